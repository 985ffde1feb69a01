// Who hears of something.

/** Hears no more. */
export type Stop = () => void;

export class Listeners<News = void> {
  private readonly all = new Set<(news: News) => void>();

  /** Each call is a subscription of its own. */
  add(hear: (news: News) => void): Stop {
    const one = (news: News): void => hear(news);
    this.all.add(one);
    return () => this.all.delete(one);
  }

  /** Who is added or stops meanwhile does not hear this. */
  tell(news: News): void {
    for (const one of [...this.all]) if (this.all.has(one)) one(news);
  }
}
