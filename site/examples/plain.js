// The element's attributes, methods and events; site/guide/embedding.md lists them.
const [first, second, told] = ['first', 'second', 'told'].map((id) => document.getElementById(id));

for (const name of ['load', 'error', 'select'])
  first.addEventListener(name, ({ detail }) => {
    told.value = `${name}: ${JSON.stringify(detail)}`;
  });

document.getElementById('file').addEventListener('change', ({ target }) => {
  first.open(target.files[0]).catch((error) => {
    told.value = `${error.code}: ${error.message}`;
  });
});
document.getElementById('peak').addEventListener('click', () => void first.select('peak'));
document.getElementById('same').addEventListener('click', () => {
  const state = first.getState();
  if (state) second.setState(state);
});
