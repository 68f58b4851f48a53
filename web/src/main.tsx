import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './theme.css';
import './layout.css';
import './pages.css';
import './print.css';
import { App } from './app.tsx';

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
