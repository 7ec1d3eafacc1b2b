// Prints lines in which plugins and files may have said something.
import { type Output, printable } from "../../terminal/output.ts";

export function printLines(output: Output, lines: readonly string[]): void {
  for (const line of lines) output.line(printable(line));
}
