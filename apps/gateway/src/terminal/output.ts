// How commands speak, without anything that could steer the terminal.
import { progressLine } from "./progress-line.ts";

export interface Output {
  /** To stdout, with a line feed. */
  line(text?: string): void;
  /** To stdout, as it is. */
  write(text: string): void;
  /** To stderr, with a line feed. */
  note(text: string): void;
  /** One JSON value to stdout. */
  json(value: unknown): void;
}

export const terminal: Output = {
  line: (text = "") => say("stdout", `${text}\n`),
  write: (text) => say("stdout", text),
  note: (text) => say("stderr", `${text}\n`),
  json: (value) => say("stdout", `${JSON.stringify(value, null, 2)}\n`),
};

function say(stream: "stdout" | "stderr", text: string): void {
  // A line that is not at its end yet is not to be painted over.
  if (text.endsWith("\n")) progressLine()?.yields();
  else progressLine()?.pauses();
  process[stream].write(text);
}

/**
 * Text of models, tools and files without escape sequences, control characters, and those that
 * show text in another order than it stands; tabs and line feeds stay.
 */
export function printable(text: string): string {
  // The C1 range holds one-byte forms of the same sequences.
  return text.replace(
    /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    "",
  );
}
