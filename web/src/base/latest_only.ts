// One question in flight, and when it is answered the newest of those asked meanwhile.

export class LatestOnly<Question, Answer> {
  private flying = false;
  private next: Question | undefined;
  private epoch = 0;

  constructor(
    private readonly ask: (question: Question) => Promise<Answer>,
    private readonly deliver: (answer: Answer, question: Question) => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** True from a request until the answer to the newest one was delivered. */
  get busy(): boolean {
    return this.flying;
  }

  request(question: Question): void {
    if (this.flying) this.next = question;
    else void this.run(question);
  }

  /** Drops what was asked so far; its answers are not delivered. */
  forget(): void {
    this.epoch += 1;
    this.flying = false;
    this.next = undefined;
  }

  private async run(question: Question): Promise<void> {
    const epoch = this.epoch;
    this.flying = true;
    let outcome: { answer: Answer } | { error: unknown };
    try {
      outcome = { answer: await this.ask(question) };
    } catch (error) {
      outcome = { error };
    }
    if (epoch !== this.epoch) return;
    const next = this.next;
    this.next = undefined;
    if (next === undefined) this.flying = false;
    else void this.run(next); // before delivering: the worker need not wait for drawing
    if ('answer' in outcome) this.deliver(outcome.answer, question);
    else this.failed(outcome.error);
  }
}
