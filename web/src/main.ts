// The page is one element; see views/viewer.ts.
import './views/viewer.ts';
