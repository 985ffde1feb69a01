// What is remembered on this computer between visits.
import { settingsFrom, type Settings, type SettingsStore } from '../model/settings.ts';

const key = 'gpustrata';

export const storedSettings: SettingsStore = {
  load(): Settings {
    try {
      return settingsFrom(JSON.parse(localStorage.getItem(key) ?? '{}'));
    } catch {
      return settingsFrom(undefined); // storage may be forbidden, or hold something else
    }
  },
  save(change): void {
    try {
      localStorage.setItem(key, JSON.stringify({ ...this.load(), ...change }));
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  },
};
