// Light or dark: as chosen, else as the system has it; in the colours that the page around the element gives it.
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { themeOf, themes, type Theme, type ThemeName } from '../draw/colors.ts';
import type { SettingsStore, ThemeChoice } from '../model/settings.ts';

export class ViewerTheme implements ReactiveController {
  private choice: ThemeChoice = 'auto';
  private readonly dark = matchMedia('(prefers-color-scheme: dark)');
  private known: Theme | undefined;

  constructor(
    private readonly host: ReactiveControllerHost & HTMLElement,
    private readonly settings: () => SettingsStore,
  ) {
    host.addController(this);
  }
  hostConnected(): void {
    this.choice = this.settings().load().theme;
    this.dark.addEventListener('change', this.changed);
    this.known = undefined;
  }
  hostDisconnected(): void {
    this.dark.removeEventListener('change', this.changed);
  }

  get name(): ThemeName {
    if (this.choice !== 'auto') return this.choice;
    return this.dark.matches ? 'dark' : 'light';
  }
  /** The same object as long as its colours are the same. */
  get theme(): Theme {
    return this.known?.name === this.name ? this.known : themes[this.name];
  }

  /** The host says which theme it has: its colours are those of the page now. */
  read(): void {
    if (this.known?.name === this.name) return;
    const page = getComputedStyle(this.host);
    const theme = themeOf(this.name, (token) => normalized(page.getPropertyValue(`--${token}`)));
    this.known = theme.key === theme.name ? themes[theme.name] : theme;
  }

  choose(choice: ThemeChoice): void {
    this.choice = choice;
    this.known = undefined; // colours are read anew
    this.changed();
  }

  toggle(): void {
    this.choose(this.name === 'dark' ? 'light' : 'dark');
    this.settings().save({ theme: this.choice });
  }

  private readonly changed = (): void => this.host.requestUpdate();
}

/** Any colour of CSS as a canvas says it; empty = it is none. */
function normalized(color: string): string {
  const ctx = document.createElement('canvas').getContext('2d');
  if (!ctx || !CSS.supports('color', color)) return '';
  ctx.fillStyle = color;
  return ctx.fillStyle;
}
