// A panel of a dashboard: made when it is shown, fed by a stream of the dashboard's own, thrown away when it goes. Its
// policy is strict.
import '../viewer.js';

const panel = document.getElementById('panel');
const peak = document.getElementById('peak');
let viewer;

async function show(run) {
  viewer?.dispose();
  viewer?.remove();
  viewer = document.createElement('gpustrata-viewer');
  viewer.setAttribute('theme', 'auto');
  viewer.addEventListener('select', ({ detail }) => (peak.value = `after event ${detail.event}`));
  panel.append(viewer);
  const response = await fetch(`../samples/${run}`); // with whatever the dashboard needs to be let in
  try {
    await viewer.open(response.body, { name: run });
  } catch (error) {
    peak.value = error.message;
  }
}

const choice = document.getElementById('run');
choice.addEventListener('change', () => void show(choice.value));
void show(choice.value);
