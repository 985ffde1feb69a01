// For other pages: `<script type="module" src=".../viewer.js"></script>` and then `<memstrata-viewer src="a.pickle">`.
export { MemstrataViewer } from './viewer.ts';
export type { ViewerChange } from './application.ts';
