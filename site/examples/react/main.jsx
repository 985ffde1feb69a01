// The element in a React program: properties and events as they are, the file from state. React 19 or newer.
import { StrictMode, useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import 'gpustrata';

function Viewer({ file, onSelect }) {
  const viewer = useRef(null);
  useEffect(() => {
    if (file) viewer.current.open(file).catch((error) => console.warn(error.message));
  }, [file]);
  return <gpustrata-viewer ref={viewer} onselect={(event) => onSelect(event.detail)} />;
}

function App() {
  const [file, setFile] = useState(null);
  const [chosen, setChosen] = useState(null);
  return (
    <>
      <input type="file" aria-label="Snapshot" onChange={({ target }) => setFile(target.files[0])} />
      <p id="chosen">{chosen ? `After event ${chosen.event}` : 'Nothing chosen'}</p>
      <Viewer file={file} onSelect={setChosen} />
    </>
  );
}

createRoot(document.getElementById('root')).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
