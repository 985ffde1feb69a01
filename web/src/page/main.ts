// The page is one element; see viewer/viewer.ts.
import '../viewer/viewer.ts';
