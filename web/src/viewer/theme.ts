// Light or dark: as chosen, else as the system has it.
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Theme } from '../draw/colors.ts';
import type { SettingsStore, ThemeChoice } from '../model/settings.ts';

export class ViewerTheme implements ReactiveController {
  private choice: ThemeChoice = 'auto';
  private readonly dark = matchMedia('(prefers-color-scheme: dark)');

  constructor(
    private readonly host: ReactiveControllerHost,
    private readonly settings: () => SettingsStore,
  ) {
    host.addController(this);
  }
  hostConnected(): void {
    this.choice = this.settings().load().theme;
    this.dark.addEventListener('change', this.changed);
  }
  hostDisconnected(): void {
    this.dark.removeEventListener('change', this.changed);
  }

  get theme(): Theme {
    if (this.choice !== 'auto') return this.choice;
    return this.dark.matches ? 'dark' : 'light';
  }

  choose(choice: ThemeChoice): void {
    this.choice = choice;
    this.changed();
  }

  toggle(): void {
    this.choose(this.theme === 'dark' ? 'light' : 'dark');
    this.settings().save({ theme: this.choice });
  }

  private readonly changed = (): void => this.host.requestUpdate();
}
