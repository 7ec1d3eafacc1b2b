// Shows what a terminal would, of the few sequences that a chat writes.
import { graphemes, graphemeWidth } from "../terminal/styled.ts";

export interface VirtualTerminal {
  write(bytes: string): void;
  /** All rows, also those that were scrolled away, without empty ones at the end. */
  rows(): string[];
  cursor(): { row: number; column: number };
}

/** Its rows are as wide as they need to be: what is written must not count on being broken. */
export function virtualTerminal(height: number): VirtualTerminal {
  const rows: string[][] = [[]];
  let [row, column] = [0, 0];
  const top = () => Math.max(0, rows.length - height);
  const put = (grapheme: string) => {
    const width = graphemeWidth(grapheme);
    const line = rows[row]!;
    while (line.length < column) line.push(" ");
    line.splice(column, Math.max(1, width), grapheme, ...(width > 1 ? [""] : []));
    column += width;
  };
  const control = (sequence: string) => {
    const [, amount = "", kind = ""] = /^\u001b\[\??(\d*)(?:;\d+)*([A-Za-z])$/.exec(sequence) ?? [];
    const by = Number(amount || "1");
    if (kind === "A") row = Math.max(top(), row - by);
    else if (kind === "B") row = Math.min(rows.length - 1, row + by);
    else if (kind === "C") column += by;
    else if (kind === "K") rows[row]!.length = Math.min(rows[row]!.length, column);
    else if (kind === "J") {
      rows[row]!.length = Math.min(rows[row]!.length, column);
      rows.length = row + 1;
    } else if (!"mhl".includes(kind)) throw new Error(`unknown: ${JSON.stringify(sequence)}`);
  };
  return {
    write(bytes) {
      for (const piece of bytes.split(/(\u001b\[[?\d;]*[A-Za-z]|\r|\n)/)) {
        if (piece === "\r") column = 0;
        else if (piece === "\n") {
          row++;
          if (row === rows.length) rows.push([]);
        } else if (piece.startsWith("\u001b")) control(piece);
        else for (const grapheme of graphemes(piece)) put(grapheme);
      }
    },
    rows() {
      const texts = rows.map((line) => line.join("").trimEnd());
      while (texts.at(-1) === "") texts.pop();
      return texts;
    },
    cursor: () => ({ row, column }),
  };
}
