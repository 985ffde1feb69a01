// A frame of a stack, as the engine tells it.

export interface Frame {
  text: string;
  name: string;
  file: string;
  line: number;
  repeats: number;
  hidden: boolean;
  fx: string[];
}
