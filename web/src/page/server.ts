// A page that `gpustrata serve` or `gpustrata live` sent knows it by a mark that the server put into it (engine/serve/server.cpp).

export interface PageServer {
  /** With the token. */
  readonly address: string;
  /** The page follows the journals that it has. */
  readonly isLive: boolean;
}

/** Undefined = this page was not sent by one. */
export function serverOfPage(): PageServer | undefined {
  const mark = document.querySelector<HTMLMetaElement>('meta[name=gpustrata-server]');
  return mark ? { address: new URL('.', document.baseURI).href, isLive: mark.content === 'live' } : undefined;
}
