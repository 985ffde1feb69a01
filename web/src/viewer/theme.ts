// Light or dark: as chosen, else as the system has it.
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Theme } from '../draw/colors.ts';
import { loadSettings, saveSettings } from '../model/settings.ts';

export class PageTheme implements ReactiveController {
  private choice = loadSettings().theme;
  private readonly dark = matchMedia('(prefers-color-scheme: dark)');

  constructor(private readonly host: ReactiveControllerHost) {
    host.addController(this);
  }
  hostConnected(): void {
    this.dark.addEventListener('change', this.changed);
  }
  hostDisconnected(): void {
    this.dark.removeEventListener('change', this.changed);
  }

  get theme(): Theme {
    if (this.choice !== 'auto') return this.choice;
    return this.dark.matches ? 'dark' : 'light';
  }

  toggle(): void {
    this.choice = this.theme === 'dark' ? 'light' : 'dark';
    saveSettings({ theme: this.choice });
    this.changed();
  }

  private readonly changed = (): void => this.host.requestUpdate();
}
