// Names an element. A page may run this script twice, or two versions of it: the first one's elements stay.

export const element =
  (name: string) =>
  (made: CustomElementConstructor): void => {
    if (!customElements.get(name)) customElements.define(name, made);
  };
