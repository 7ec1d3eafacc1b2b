// Writes tar archives for tests, also such as no program makes.
import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

export interface TarEntry {
  name: string;
  content?: string;
  /** As tar writes it: "0" a file, "2" a link, "3" a device; default "0". */
  type?: string;
  link?: string;
  mode?: number;
  /** What the header claims; default: that of the content. */
  size?: number;
}

/** Compressed; returns the file. */
export function writeTar(file: string, entries: readonly TarEntry[]): string {
  const parts = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? "");
    const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
    return [header(entry, content.length), content, padding];
  });
  writeFileSync(file, gzipSync(Buffer.concat([...parts, Buffer.alloc(1024)]), { level: 1 }));
  return file;
}

function header({ name, type = "0", link = "", mode = 0o644, size }: TarEntry, length: number) {
  const block = Buffer.alloc(512);
  const octal = (value: number, from: number, width: number) =>
    block.write(`${value.toString(8).padStart(width - 1, "0")}\0`, from);
  block.write(name, 0, 100);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size ?? length, 124, 12);
  octal(0, 136, 12);
  block.write(" ".repeat(8), 148);
  block.write(type, 156);
  block.write(link, 157, 100);
  block.write("ustar\x0000", 257, "latin1");
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
