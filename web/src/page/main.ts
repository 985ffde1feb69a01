// The page: a viewer, and the application around it.
import { startApplication } from './application.ts';

startApplication();
