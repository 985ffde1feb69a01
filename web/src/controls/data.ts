// `data-` attributes of an element, as many as there are.
import { noChange } from 'lit';
import { Directive, directive, type ElementPart } from 'lit/directive.js';

export type Data = Readonly<Record<string, string | number | boolean | null | undefined>>;

class DataDirective extends Directive {
  private names: readonly string[] = [];

  render(_data: Data): typeof noChange {
    return noChange;
  }
  /** What is undefined, null or false is not there. */
  override update({ element }: ElementPart, [data]: [Data]): typeof noChange {
    const { dataset } = element as HTMLElement;
    for (const name of this.names) if (!(name in data)) delete dataset[name];
    for (const [name, value] of Object.entries(data)) {
      const text = value === true ? '' : value;
      if (text === undefined || text === null || text === false) delete dataset[name];
      else dataset[name] = String(text);
    }
    this.names = Object.keys(data);
    return noChange;
  }
}
export const withData = directive(DataDirective);
