// A text of a form: its label, its field, and below it what is wrong with it. The look is that of form_styles.ts.
import { html, nothing, type TemplateResult } from 'lit';

export interface TextField {
  name: string;
  label: string;
  placeholder: string;
  value: string;
  /** `at`: from which UTF-16 unit of the text on; absent or -1 = not known. */
  wrong: { message: string; at?: number } | undefined;
  input(text: string): void;
}

export function textField({ name, label, placeholder, value, wrong, input }: TextField): TemplateResult {
  const at = wrong?.at ?? -1;
  return html`<div>
    <label
      >${label}
      <input
        class="field"
        name=${name}
        autocomplete="off"
        spellcheck="false"
        placeholder=${placeholder}
        aria-invalid=${wrong ? 'true' : nothing}
        aria-describedby=${wrong ? `wrong-${name}` : nothing}
        .value=${value}
        @input=${({ target }: Event) => input((target as HTMLInputElement).value)} />
    </label>
    ${
      wrong
        ? html`<span class="wrong" id="wrong-${name}" role="alert" data-at=${at}
            >${at >= 0 ? html`<code>${value.slice(0, at)}<mark>${value.slice(at) || '␣'}</mark></code> ` : nothing}${wrong.message}</span
          >`
        : nothing
    }
  </div>`;
}
