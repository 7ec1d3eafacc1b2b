// Decides whether an archive may be unpacked.
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { installFailed, messageOf } from "../invalid.ts";
import { TREE_LIMITS, type TreeLimits } from "./check-tree.ts";

const BLOCK = 512;
/** Of a name that does not fit into its field. */
const MAX_NAME_BYTES = 64 * 1024;
/** What file systems take. What is longer would be left out of what is unpacked. */
const MAX_PART_BYTES = 255;
/** Leaves room for where the plugin will be. */
const MAX_PATH_BYTES = 800;
const FILES = new Set(["0", "\0", "7"]);
const FOLDER = "5";
/** Names of the entry that follows, and of the whole archive. */
const NOTES = new Set(["x", "g", "L"]);

/** One entry as its block of 512 bytes tells of it; pure. */
export interface ArchiveEntry {
  name: string;
  type: string;
  size: number;
}

/** Writes nothing. Throws PLUGIN_INSTALL_FAILED at the first thing that must not be unpacked. */
export async function checkArchive(file: string, limits: TreeLimits = TREE_LIMITS): Promise<void> {
  const refuse = (why: string) => installFailed(`${file} cannot be installed: ${why}.`);
  let entries = 0;
  let bytes = 0;
  const stream = unpacked(file);
  const clashOf = createClashes();
  try {
    for await (const { name, type, size } of entriesOf(stream)) {
      entries++;
      bytes += size;
      const problem = problemOf(name, type) ?? clashOf(name, type);
      if (problem !== null) throw refuse(problem);
      if (entries > limits.entries)
        throw refuse(`it holds more than ${limits.entries.toLocaleString("en")} files`);
      if (bytes > limits.bytes)
        throw refuse(
          `unpacked it takes more than ${Math.round(limits.bytes / 1024 ** 2).toLocaleString("en")} MiB`,
        );
    }
  } catch (error) {
    throw (error as { code?: unknown }).code === "PLUGIN_INSTALL_FAILED"
      ? error
      : refuse(`it is not a tar archive (${messageOf(error)})`);
  } finally {
    stream.destroy();
  }
  if (entries === 0) throw refuse("it is empty, or not a tar archive");
}

function problemOf(name: string, type: string): string | null {
  const shown = JSON.stringify(name.slice(0, 200));
  if (!FILES.has(type) && type !== FOLDER)
    return `its entry ${shown} is neither a file nor a folder; links and devices are not unpacked`;
  if (/[\u0000-\u001f\u007f\\]/.test(name))
    return `the name of its entry ${shown} holds a backslash or a character that cannot be seen`;
  if (Buffer.byteLength(name) > MAX_PATH_BYTES)
    return `the path of its entry ${shown}… is longer than ${MAX_PATH_BYTES.toLocaleString("en")} bytes, and no such file could be written`;
  if (name.split("/").some((part) => Buffer.byteLength(part) > MAX_PART_BYTES))
    return `a name in its entry ${shown}… is longer than ${MAX_PART_BYTES} bytes, and no such file could be written`;
  // As npm packs them: it takes the first part of each name away.
  if (FILES.has(type) && !name.replace(/^\.\//, "").includes("/"))
    return `its entry ${shown} does not lie in a folder such as "package/", as all files of a package do; pack it with "npm pack" or "clew plugins pack"`;
  return name.startsWith("/") || /^[a-z]:/i.test(name) || name.split("/").includes("..")
    ? `its entry ${shown} would be written outside the plugin's folder`
    : null;
}

/** Why an entry cannot be there beside those before it, whatever the file system; null: it can. */
function createClashes(): (name: string, type: string) => string | null {
  const known = new Map<string, { name: string; isFolder: boolean }>();
  return (given, type) => {
    const parts = given.split("/").filter((part) => part !== "" && part !== ".");
    for (let count = 1; count <= parts.length; count++) {
      const name = parts.slice(0, count).join("/");
      const isFolder = count < parts.length || type === FOLDER;
      const key = name.normalize("NFC").toLowerCase();
      const other = known.get(key);
      const [shown, otherShown] = [name, other?.name ?? ""].map((text) => JSON.stringify(text));
      if (other === undefined) known.set(key, { name, isFolder });
      else if (other.name !== name)
        return `the names of its entries ${otherShown} and ${shown} are the same to some systems`;
      else if (other.isFolder !== isFolder) return `its entry ${shown} is both a file and a folder`;
    }
    return null;
  };
}

function unpacked(file: string): Readable {
  const source = createReadStream(file);
  if (!/\.(tgz|gz)$/i.test(file)) return source;
  const gunzip = createGunzip();
  source.on("error", (error) => gunzip.destroy(error));
  return source.pipe(gunzip);
}

/** Contents are passed over; a name that stands in an entry of its own is put back. */
async function* entriesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<ArchiveEntry> {
  let rest: Buffer = Buffer.alloc(0);
  let skip = 0;
  let noted: { type: string; left: number; pieces: Buffer[] } | undefined;
  let longName: string | undefined;
  for await (const piece of stream) {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    while (rest.length > 0) {
      if (noted !== undefined && noted.left > 0) {
        const taken = rest.subarray(0, noted.left);
        noted.pieces.push(taken);
        noted.left -= taken.length;
        rest = rest.subarray(taken.length);
        if (noted.left > 0) break;
        longName = nameNotedIn(noted.type, Buffer.concat(noted.pieces)) ?? longName;
        noted = undefined;
        continue;
      }
      if (skip > 0) {
        const passed = Math.min(skip, rest.length);
        skip -= passed;
        rest = rest.subarray(passed);
        continue;
      }
      if (rest.length < BLOCK) break;
      const entry = readBlock(rest.subarray(0, BLOCK));
      rest = rest.subarray(BLOCK);
      if (entry === null) continue;
      const padded = Math.ceil(entry.size / BLOCK) * BLOCK;
      if (NOTES.has(entry.type)) {
        if (entry.size > MAX_NAME_BYTES) throw new Error("a name in it is too long");
        noted = { type: entry.type, left: entry.size, pieces: [] };
        skip = padded - entry.size;
      } else {
        skip = padded;
        yield { ...entry, name: longName ?? entry.name };
        longName = undefined;
      }
    }
  }
}

/** Null: one of the empty blocks at the end. Throws for what is no tar block. */
export function readBlock(block: Buffer): ArchiveEntry | null {
  if (block.every((byte) => byte === 0)) return null;
  const field = (from: number, length: number) => {
    const bytes = block.subarray(from, from + length);
    const end = bytes.indexOf(0);
    return bytes.subarray(0, end < 0 ? length : end).toString("utf8");
  };
  const sum = block.reduce(
    (all, byte, index) => all + (index >= 148 && index < 156 ? 32 : byte),
    0,
  );
  if (Number.parseInt(field(148, 8).trim(), 8) !== sum)
    throw new Error("a header in it is damaged");
  // A size that does not fit its octal digits is written as a number, marked by the first bit.
  const size =
    (block[124]! & 0x80) === 0
      ? Number.parseInt(field(124, 12).trim() || "0", 8)
      : Number(block.readBigUInt64BE(128));
  if (!Number.isSafeInteger(size) || size < 0) throw new Error("a size in it cannot be");
  const prefix = field(257, 5) === "ustar" ? field(345, 155) : "";
  const name = prefix === "" ? field(0, 100) : `${prefix}/${field(0, 100)}`;
  return { name, type: String.fromCharCode(block[156]!), size };
}

export function nameNotedIn(type: string, content: Buffer): string | undefined {
  const text = content.toString("utf8");
  if (type === "L") return text.replace(/\0.*$/s, "");
  return type === "x" ? /(?:^|\n)\d+ path=([^\n]*)/.exec(text)?.[1] : undefined;
}
