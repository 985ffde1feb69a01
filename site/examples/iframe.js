// The messages of embed.html (web/src/page/embed.ts). Its origin is checked on this side, too.
const frame = document.getElementById('frame');
const told = document.getElementById('told');
const origin = new URL(frame.src).origin;
const waiting = new Map();

addEventListener('message', ({ source, origin: from, data }) => {
  if (source !== frame.contentWindow || from !== origin || data?.gpustrata !== 1) return;
  if (data.event) told.value = `${data.event}: ${JSON.stringify(data.detail)}`;
  else if (data.error) waiting.get(data.id)?.reject(new Error(data.error.message));
  else waiting.get(data.id)?.resolve(data.answer);
});

let last = 0;
function ask(what) {
  last += 1;
  const id = last;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    frame.contentWindow.postMessage({ gpustrata: 1, id, ...what }, origin);
  });
}

async function begin() {
  await ask({ do: 'hello' });
  const response = await fetch('../samples/leak.pickle.gz');
  await ask({ do: 'open', file: await response.blob(), name: 'leak.pickle.gz' });
}
if (frame.contentDocument?.readyState === 'complete' && frame.contentDocument.URL !== 'about:blank')
  void begin();
else frame.addEventListener('load', () => void begin(), { once: true });
