// What the page asks its engines, as it is sent to their workers, and which of it is answered. Frames: protocol/wire.ts.
import { expect, type Page } from '@playwright/test';
import type { Args } from '../../web/engine/index.ts';

export interface Question {
  /** Number of the worker, from 0. */
  engine: number;
  id: number;
  /** `picture`, `report`, ...: protocol/questions.ts. */
  ask: string;
  args: unknown;
  answered: boolean;
}

export type Picture = Question & { args: Args<'picture'> };

/** Before the page is opened. */
export async function watchQuestions(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const questions: Question[] = [];
    Object.assign(globalThis, { questions });
    const engines: Worker[] = [];
    const idOf = (frame: Uint8Array): number =>
      new DataView(frame.buffer, frame.byteOffset).getUint32(8, true);
    const post = Worker.prototype.postMessage as (this: Worker, ...all: unknown[]) => void;
    Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: unknown[]) {
      if (!engines.includes(this)) {
        const engine = engines.push(this) - 1;
        this.addEventListener('message', ({ data }) => {
          if (!(data instanceof Uint8Array)) return;
          const asked = questions.findLast((one) => one.engine === engine && one.id === idOf(data));
          if (asked) asked.answered = true;
        });
      }
      if (message instanceof Uint8Array) {
        const asked = JSON.parse(new TextDecoder().decode(message.subarray(24))) as {
          ask: string;
          args: unknown;
        };
        questions.push({ engine: engines.indexOf(this), id: idOf(message), ...asked, answered: false });
      }
      post.call(this, message, ...rest);
    } as typeof Worker.prototype.postMessage;
  });
}

/** Before the page is opened: questions of one kind are kept back until they are let go. */
export async function holdBack(page: Page, ask: string): Promise<void> {
  await page.addInitScript((kind) => {
    const post = Worker.prototype.postMessage as (this: Worker, ...all: unknown[]) => void;
    const held: (() => void)[] = [];
    Object.assign(globalThis, { held });
    Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: unknown[]) {
      const isHeld =
        message instanceof Uint8Array && new TextDecoder().decode(message).includes(`"ask":"${kind}"`);
      if (isHeld) held.push(() => post.call(this, message, ...rest));
      else post.call(this, message, ...rest);
    } as typeof Worker.prototype.postMessage;
  }, ask);
}
/** Sends what is held back, and tells how much that was. */
export const letGo = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const all = (globalThis as unknown as { held: (() => void)[] }).held.splice(0);
    for (const send of all) send();
    return all.length;
  });

/** What was asked so far. */
export const questionsAsked = (page: Page): Promise<Question[]> =>
  page.evaluate(() => (globalThis as unknown as { questions: Question[] }).questions);

/** Pictures that were asked for after the first `since` questions, once all are answered and each of `engines` has one. */
export async function picturesAsked(page: Page, since: number, engines: number): Promise<Picture[]> {
  let found: Picture[] = [];
  await expect
    .poll(async () => {
      found = (await questionsAsked(page)).slice(since).filter(({ ask }) => ask === 'picture') as Picture[];
      return new Set(found.map(({ engine }) => engine)).size >= engines && found.every((one) => one.answered);
    })
    .toBe(true);
  return found;
}

/** Before the page is opened: engines refuse questions of one kind, as ones that they do not know. */
export async function refuse(page: Page, ask: string): Promise<void> {
  await page.addInitScript((kind) => {
    const post = Worker.prototype.postMessage as (this: Worker, ...all: unknown[]) => void;
    Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: unknown[]) {
      if (message instanceof Uint8Array) {
        // Frames are binary before the text: each byte a letter.
        const at = new TextDecoder('latin1').decode(message).indexOf(`"ask":"${kind}"`);
        if (at >= 0) message[at + '"ask":"'.length] = 'X'.charCodeAt(0);
      }
      post.call(this, message, ...rest);
    } as typeof Worker.prototype.postMessage;
  }, ask);
}
