// What the parts of the page share: who is told of a change, and what belongs to a view.
import assert from 'node:assert/strict';
import test from 'node:test';
import { EngineFailure, EngineView, type Engine, type Shown, type ViewInfo } from '../../web/engine/index.ts';
import { Filtering } from '../../web/src/model/filtering.ts';
import { createWorkspace, momentOf, noFilter } from '../../web/src/model/workspace.ts';
import { like, settle } from './assertions.ts';

const device = (wanted: number): Shown => ({ snapshot: 0, device: wanted, bands: 'blocks' });
const viewOf = ({ device, bands }: Shown, more: object = {}): EngineView => {
  const info = { device, bands, peak: { bytes: 1, event: 0 }, extent: { event: 10, time_us: 10 }, ...more };
  return new EngineView(
    {} as Engine,
    { snapshot: 0, device, bands },
    { id: 1, info: info as ViewInfo, diagnostics: [] },
  );
};

test('who watches a part is told once after each change of it, and never of others', () => {
  const workspace = createWorkspace();
  const told: string[] = [];
  const stop = workspace.watch(['axis', 'answer'], (changed) => told.push([...changed].sort().join(' ')));
  workspace.change({ axis: 'time', answer: 'state', moment: 3 });
  workspace.change({ moment: 4 });
  workspace.change({ axis: 'time' }); // as it is
  workspace.change({ answer: undefined });
  stop();
  workspace.change({ axis: 'event' });
  assert.deepEqual(told, ['answer axis', 'answer']);
  assert.equal(workspace.get('moment'), 4);
});

test('moment and selection belong to a view and come back with it; the range goes with it', () => {
  const workspace = createWorkspace();
  const [first, second] = [viewOf(device(0)), viewOf(device(1))];
  workspace.change({ view: first });
  workspace.change({ moment: 3, range: { axis: 'event', from: 1, to: 2 }, axis: 'time' });
  const told: string[] = [];
  workspace.watch(['moment', 'range', 'selection', 'axis'], (changed) => told.push([...changed].join(' ')));
  workspace.change({ view: second });
  assert.deepEqual(told, ['moment range']); // nothing was selected in either
  assert.equal(workspace.get('moment'), undefined);
  assert.equal(workspace.get('axis'), 'time'); // of the page, not of the view
  workspace.change({ view: first });
  assert.equal(workspace.get('moment'), 3);
  assert.equal(workspace.get('range'), undefined);
  // What comes with the view counts more than what was kept.
  workspace.change({ view: second, moment: 7 });
  assert.deepEqual([workspace.get('moment'), workspace.get('range')], [7, undefined]);
});

test('a workspace that is disposed of holds nothing; who watches it hears on, until he stops', () => {
  const workspace = createWorkspace();
  const view = viewOf(device(0));
  const told: string[] = [];
  const stop = workspace.watch(['view', 'moment'], () => told.push('told'));
  workspace.change({ view, moment: 3 });
  workspace.dispose();
  assert.deepEqual([workspace.get('view'), workspace.get('moment')], [undefined, undefined]);
  workspace.change({ view });
  assert.equal(workspace.get('moment'), undefined); // nothing was kept of the view
  assert.deepEqual(told, ['told', 'told']);
  stop();
  workspace.change({ moment: 1 });
  assert.deepEqual(told, ['told', 'told']);
});

test('a step is made by who remembers the steps; anything else is not', () => {
  const steps: (number | undefined)[] = [];
  const workspace = createWorkspace((change) => {
    steps.push(workspace.get('moment'));
    change();
  });
  workspace.change({ moment: 1 });
  workspace.change({ moment: 2 }, true);
  workspace.change({ moment: 3 });
  assert.deepEqual(steps, [1]); // where one comes back to
  assert.equal(workspace.get('moment'), 3);
});

test('a change made by a watcher is told to all', () => {
  const workspace = createWorkspace();
  const told: string[] = [];
  workspace.watch(['file', 'main'], () => workspace.change({ axis: 'time' }));
  workspace.watch(['axis'], () => told.push(workspace.get('axis')));
  workspace.change({ main: 'map' });
  assert.deepEqual(told, ['time']);
});

test('the moment that is shown: the chosen one, else the last out-of-memory event, else the peak', () => {
  const workspace = createWorkspace();
  assert.equal(momentOf(workspace), -1);
  const peak = { bytes: 1, event: 5 };
  workspace.change({ view: viewOf(device(0), { peak, oom_events: [] }) });
  assert.equal(momentOf(workspace), 5);
  workspace.change({ view: viewOf(device(0), { peak, oom_events: [7, 9] }) });
  assert.equal(momentOf(workspace), 9);
  workspace.change({ moment: -1 });
  assert.equal(momentOf(workspace), -1);
});

test('what a filter means is a part; a wrong one means nothing', async () => {
  const workspace = createWorkspace();
  const filter = new Filtering(workspace);
  const answers: Record<string, unknown> = { 'size>1': { count: 2, bytes: 8 } };
  const view = {
    alive: true,
    ask: (kind: string, asked: { text: string; filter: string; index: number }) =>
      kind === 'match'
        ? Promise.resolve(asked.filter === 'size>1' ? 40 + asked.index : -1)
        : asked.text in answers
          ? Promise.resolve(answers[asked.text])
          : Promise.reject(new EngineFailure({ code: 'filter', message: 'what?', offset: 0 })),
  } as unknown as EngineView;
  filter.show(view);
  filter.set('size>1');
  await settle();
  like(workspace.get('filter'), { text: 'size>1', found: { count: 2 }, highlight: 'size>1' });
  assert.deepEqual([await filter.step(1), await filter.step(1), await filter.step(1)], [40, 41, 40]);
  filter.set('size>');
  await settle();
  like(workspace.get('filter'), { error: { message: 'what?' }, highlight: '', match: -1 });
  assert.equal(workspace.get('filter').found, undefined);
  filter.show(undefined); // nothing to filter: the field goes, and its text
  assert.deepEqual(workspace.get('filter'), noFilter);
});
