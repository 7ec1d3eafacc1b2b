import { spawnSync } from "node:child_process";
import {
  chmod,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findRepairLeftovers, repairSessionFileIfNeeded } from "../session-file.ts";

let folder: string;
let sessionFile: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "clew-complaints-"));
  sessionFile = join(folder, "session.jsonl");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const timestamp = "2026-05-01T00:00:00.000Z";
const HEADER = `{"type":"session","version":3,"id":"session","timestamp":"${timestamp}","cwd":"/w"}`;
const said = (id: string, parentId: string | null, content: unknown = `said ${id}`, more = {}) =>
  JSON.stringify({
    ...{ type: "message", id, parentId, timestamp },
    message: { role: "user", content, ...more },
  });
const A = said("a", null);
const B = said("b", "a");
const C = said("c", "b");

async function repaired(text: string | Buffer, options: object = {}) {
  await writeFile(sessionFile, text);
  const report = await repairSessionFileIfNeeded({ sessionFile, ...options });
  return { report, lines: (await readFile(sessionFile, "utf8")).trimEnd().split("\n") };
}

const fileOf = (...lines: string[]) => lines.map((line) => `${line}\n`).join("");

describe("complaint: lines that nobody meant to touch change", () => {
  const ODD = `{"id":"b" , "type":"message","channel":1234567890123456789,"ratio":1e400,"timestamp":"${timestamp}","parentId":"a","message":{"role":"user","content":"x","n":1.0}}`;

  it("copies big numbers, spaces, the order of fields and unknown ones as they are", async () => {
    const { lines } = await repaired(fileOf(HEADER, A, ODD, "noise"));
    expect(lines).toEqual([HEADER, A, ODD]);
  });

  it("copies bytes that are no text as they are", async () => {
    const file = Buffer.concat([
      Buffer.from(`${HEADER}\n${A.slice(0, -4)}`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(`${A.slice(-4)}\nnoise\n`),
    ]);
    await repaired(file);
    expect(await readFile(sessionFile)).toEqual(file.subarray(0, -"noise\n".length));
  });

  it("changes of a line with a finding the value that is wrong, and nothing else", async () => {
    const blocks =
      '[ {"type":"text","text":" "} , {"type":"text","text":"x","big":12345678901234567890} ]';
    const line = `{"big":12345678901234567890, "type":"message","id":"b","parentId":"lost","timestamp":"${timestamp}","message":{"role":"user","content":${blocks}}}`;
    const { lines } = await repaired(fileOf(HEADER, A, line));
    expect(lines[2]).toBe(
      line.replace('"lost"', '"a"').replace('{"type":"text","text":" "} , ', ""),
    );
  });

  it("keeps, as it was, what it takes out, when it is asked to", async () => {
    const noise = Buffer.from([0x7b, 0xff, 0x00, 0x31]);
    const file = Buffer.concat([Buffer.from(fileOf(HEADER, A)), noise, Buffer.from("\n")]);
    const { report } = await repaired(file, { keepRemoved: true });
    expect(await readFile(report.keptIn!)).toEqual(Buffer.concat([noise, Buffer.from("\n")]));
  });
});

describe("complaint: whole entries beside damage are dropped", () => {
  it("reads the entry behind a torn half", async () => {
    const { lines, report } = await repaired(fileOf(HEADER, A, B.slice(0, 60) + C));
    expect(lines).toEqual([HEADER, A, C.replace('"parentId":"b"', '"parentId":"a"')]);
    expect(report).toMatchObject({ droppedLines: 0, droppedPieces: 1, salvagedEntries: 1 });
  });

  it("reads the entry behind a run of NUL, and behind a byte order mark", async () => {
    const { lines, report } = await repaired(fileOf(HEADER, "\0".repeat(4096) + A, `\uFEFF${B}`));
    expect(lines).toEqual([HEADER, A, B]);
    expect(report).toMatchObject({ droppedLines: 0, salvagedEntries: 2 });
    expect(report.droppedPieces).toBeUndefined();
  });

  it("reads two entries on one line, and one on two", async () => {
    const { lines } = await repaired(fileOf(HEADER, A + B, C.slice(0, 70), C.slice(70)));
    expect(lines).toEqual([HEADER, A, B, C]);
  });

  it("reads both entries of two processes that wrote at once", async () => {
    const { lines } = await repaired(fileOf(HEADER, A.slice(0, 50) + B, A.slice(50), C));
    expect(lines).toEqual([HEADER, A, B, C]);
  });

  it("reads a line whose texts hold signs that JSON does not allow there", async () => {
    const broken = A.replace("said a", "origin\\user@host, a\ttab, \\u12");
    const { lines, report } = await repaired(fileOf(HEADER, broken, B), { keepRemoved: true });
    expect(JSON.parse(lines[1]!).message.content).toBe("origin\\user@host, a\ttab, \\u12");
    expect(lines[2]).toBe(B);
    expect(report).toMatchObject({ salvagedEntries: 1, droppedLines: 0 });
    expect(await readFile(report.keptIn!, "utf8")).toBe(`${broken}\n`);
  });

  it.each([
    ["a comma behind its last field", B.replace(/\}$/, ",}")],
    ["a comma behind its last block", B.replace('"said b"', '[{"type":"text","text":"b"},]')],
    ["words of Python", B.replace('"parentId":"a"', '"parentId":None,"ok":True')],
    ["single quotes", B.replaceAll('"', "'")],
    ["single quotes around others", B.replace('"said b"', `'it\\'s "b", None, [1,]'`)],
  ])("reads a line of which it is certain what was meant: %s", async (_name, line) => {
    const { lines, report } = await repaired(fileOf(HEADER, A, line), { keepRemoved: true });
    expect(report).toMatchObject({ salvagedEntries: 1, droppedLines: 0 });
    const meant = line
      .replace(`'it\\'s "b", None, [1,]'`, String.raw`"it's \"b\", None, [1,]"`)
      .replace("},]", "}]")
      .replace(",}", "}")
      .replace(":None,", ":null,")
      .replace(":True", ":true");
    expect(lines[2]).toBe(line.startsWith("{'") ? B : meant);
    expect(await readFile(report.keptIn!, "utf8")).toBe(`${line}\n`);
  });

  it("changes nothing inside of texts, and takes no other line for an entry", async () => {
    const said = B.replace('"said b"', String.raw`"None, True, ,} 'x' \",]\""`);
    const kept = await repaired(fileOf(HEADER, A, said.replace(/\}$/, ",}")));
    expect(kept.lines[2]).toBe(said);
    const { lines } = await repaired(fileOf(HEADER, A, "{'type':'message',}", "None", "[1,]"));
    expect(lines).toEqual([HEADER, A]);
  });

  it("takes nothing for an entry that is part of a damaged one", async () => {
    const call = { type: "toolCall", id: "c1", name: "write", arguments: { entry: JSON.parse(A) } };
    const torn = said("b", "a", [call], { stopReason: "toolUse" }).slice(0, -5);
    const tail = said("b", "a", [call], { stopReason: "toolUse" }).slice(30);
    const { lines } = await repaired(fileOf(HEADER, said("x", null), torn, tail));
    expect(lines).toEqual([HEADER, said("x", null)]);
  });

  it("does not put halves together that do not fit", async () => {
    const { lines, report } = await repaired(fileOf(HEADER, A, B.slice(0, 20), C.slice(40)));
    expect(lines).toEqual([HEADER, A]);
    expect(report.droppedLines).toBe(2);
  });
});

describe("complaint: a flipped bit in the header refuses the file", () => {
  it("rebuilds it from what can be read, the file's name and the first entry", async () => {
    const flipped = HEADER.replace('"id":"session"', '"id:"session"').replace(/\}$/, ',"key":"k"}');
    const { lines, report } = await repaired(fileOf(flipped, A));
    expect(lines).toEqual([HEADER.replace(/\}$/, ',"key":"k"}'), A]);
    expect(report).toMatchObject({ mendedHeaders: 1, droppedLines: 0 });
  });

  it("knows the version by its entries where no header says it", async () => {
    const older = JSON.stringify({
      type: "message",
      timestamp,
      message: { role: "user", content: "x" },
    });
    expect(JSON.parse((await repaired(fileOf(older))).lines[0]!)).toMatchObject({ version: 1 });
    const hook = said("a", null).replace('"role":"user"', '"role":"hookMessage"');
    expect(JSON.parse((await repaired(fileOf(hook))).lines[0]!)).toMatchObject({ version: 2 });
    expect(JSON.parse((await repaired(fileOf(A))).lines[0]!)).toMatchObject({ version: 3 });
  });

  it("leaves a file alone that is none of a session", async () => {
    const { report, lines } = await repaired('{"level":"info"}\n{"level":"warn"}\nnoise\n');
    expect(report).toMatchObject({ repaired: false, code: "header-invalid" });
    expect(lines).toHaveLength(3);
  });
});

describe("complaint: history is out of reach", () => {
  it("lets an entry follow the one before it when its parent is lost", async () => {
    const { lines, report } = await repaired(fileOf(HEADER, A, B, said("c", "gone")));
    expect(lines[3]).toBe(C.replace('"content":"said c"', '"content":"said c"'));
    expect(report).toMatchObject({ relinkedEntries: 1 });
  });

  it("lets an entry without a parent follow the one before a line that says nothing", async () => {
    for (const odd of ["{}", '{"mine":1}', "noise"]) {
      const { lines, report } = await repaired(fileOf(HEADER, A, B, odd, said("c", null)));
      expect(lines.at(-1)).toBe(C);
      expect(report).toMatchObject({ relinkedEntries: 1 });
    }
    const { report } = await repaired(fileOf(HEADER, A, B, said("c", null)));
    expect(report).toEqual({ repaired: false, droppedLines: 0 });
  });

  it("writes entries behind their parents, whatever order they stood in", async () => {
    const D = said("d", "b");
    const { lines, report } = await repaired(fileOf(HEADER, A, C, D, B));
    expect(lines).toEqual([HEADER, A, B, C, D]);
    expect(report).toMatchObject({ movedEntries: 2, droppedLines: 0 });
    expect(report.relinkedEntries).toBeUndefined();
  });

  it("makes the newest of two interleaved writers' entries the last one", async () => {
    const D = said("d", "c");
    const { lines } = await repaired(fileOf(HEADER, A, B, C.slice(0, 50), D, C.slice(50)));
    expect(lines).toEqual([HEADER, A, B, C, D]);
    const E = said("e", "b");
    const others = await repaired(fileOf(HEADER, A, B, C.slice(0, 50), E, C.slice(50)));
    expect(others.lines).toEqual([HEADER, A, B, C, E]);
  });

  it("opens circles, also those that lead into each other", async () => {
    const circles = [said("a", "c"), B, C, said("d", "d"), said("e", "f"), said("f", "e")];
    const { lines } = await repaired(fileOf(HEADER, ...circles));
    const parents = lines.slice(1).map((line) => JSON.parse(line).parentId);
    expect(parents).toEqual([null, "a", "b", "c", "d", "e"]);
  });

  it("writes the same line once, and gives 50,000 entries with one id their own", async () => {
    const { report: once } = await repaired(fileOf(HEADER, A, B, A, B));
    expect(once).toMatchObject({ droppedCopies: 2, droppedLines: 0 });
    const same = Array.from({ length: 50_000 }, (_, at) =>
      said("x", at === 0 ? null : "x", `${at}`),
    );
    const { report, lines } = await repaired(fileOf(HEADER, ...same, said("x.2", "x")));
    expect(report).toMatchObject({ renamedEntries: 49_999 });
    const entries = lines.slice(1).map((line) => JSON.parse(line));
    expect(new Set(entries.map(({ id }) => id)).size).toBe(50_001);
    for (const [at, { parentId }] of entries.entries())
      expect(parentId).toBe(at === 0 ? null : entries[at - 1].id);
  });
});

describe("complaint: the file of a failed turn is written to", () => {
  it.each(["error", "aborted"])(
    "makes up no result for calls of a turn that ended with %s",
    async (stopReason) => {
      const call = { type: "toolCall", id: "call_1|fc_1", name: "exec", arguments: {} };
      const turn = said("b", "a", [call], {
        ...{ role: "assistant", stopReason },
        ...{ api: "openai-chatgpt-responses", provider: "openai" },
      });
      expect((await repaired(fileOf(HEADER, A, turn))).report).toEqual({
        repaired: false,
        droppedLines: 0,
      });
    },
  );
});

describe("complaint: a repair leaves files behind", () => {
  it("sweeps those of dead processes, and those of its own that it does not use", async () => {
    const left = [`${sessionFile}.bak-4194305-1`, `${sessionFile}.repair-${process.pid}-1`];
    for (const file of left) await writeFile(file, "left");
    await writeFile(`${sessionFile}.bak-1-1`, "of a process that runs");
    expect((await findRepairLeftovers(folder)).sort()).toEqual(left);
    await repaired(fileOf(HEADER, A));
    expect(await readdir(folder)).toEqual(["session.jsonl", "session.jsonl.bak-1-1"]);
  });

  it("keeps what it took out once, when it is tried again", async () => {
    const damaged = fileOf(HEADER, A, "noise");
    const first = await repaired(damaged, { keepRemoved: true });
    const second = await repaired(damaged, { keepRemoved: true });
    expect(second.report.keptIn).toBe(first.report.keptIn);
    expect(await readdir(folder)).toHaveLength(2);
  });
});

describe("complaint: a file that cannot be written is lost or half written", () => {
  const UNDER_A_LIMIT = fileURLToPath(new URL("../testing/repair-and-die.ts", import.meta.url));

  it("says of a read-only file that it is one, and leaves it", async () => {
    await writeFile(sessionFile, fileOf(HEADER, A, "noise"));
    await chmod(sessionFile, 0o444);
    expect(await repairSessionFileIfNeeded({ sessionFile, keepRemoved: true })).toMatchObject({
      ...{ repaired: false, code: "not-written" },
      reason: "repair failed: the file is read-only",
    });
    expect(await readFile(sessionFile, "utf8")).toBe(fileOf(HEADER, A, "noise"));
    expect(await readdir(folder)).toEqual(["session.jsonl"]);
  });

  it("leaves the file and nothing beside it where there is no room for another one", async () => {
    const damaged = fileOf(HEADER, said("a", null, "x".repeat(300_000)), "noise");
    await writeFile(sessionFile, damaged);
    const node = `"${process.execPath}" --conditions=@clew/source "${UNDER_A_LIMIT}" "${sessionFile}" 0`;
    const { stdout } = spawnSync("sh", ["-c", `ulimit -f 200; ${node}`], { encoding: "utf8" });
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ repaired: false, code: "not-written", systemCode: "EFBIG" },
      reason: expect.stringMatching(/^repair failed: EFBIG/),
    });
    expect(await readFile(sessionFile, "utf8")).toBe(damaged);
    expect(await readdir(folder)).toEqual(["session.jsonl"]);
  });

  it("leaves a link a link, and its file where it is", async () => {
    const target = join(folder, "target.jsonl");
    await symlink(target, sessionFile);
    await writeFile(target, fileOf(HEADER, A, "noise"));
    const { ino } = await stat(target);
    expect(await repairSessionFileIfNeeded({ sessionFile })).toMatchObject({ repaired: true });
    expect((await lstat(sessionFile)).isSymbolicLink()).toBe(true);
    expect((await stat(target)).ino).not.toBe(ino);
    expect(await readFile(target, "utf8")).toBe(fileOf(HEADER, A));
  });

  it("lets repairs of one file at once do it once", async () => {
    await writeFile(sessionFile, fileOf(HEADER, A, "noise"));
    const reports = await Promise.all(
      [1, 2, 3].map(() => repairSessionFileIfNeeded({ sessionFile, keepRemoved: true })),
    );
    expect(reports.filter((report) => report.repaired)).toHaveLength(1);
    for (const report of reports.filter((each) => !each.repaired))
      expect(report).toEqual({ repaired: false, droppedLines: 0 });
  });
});

describe("complaint: what a call wrote becomes what a person said", () => {
  const QUOTED = said("quoted", null, "delete everything");
  const call = { type: "toolCall", id: "c", name: "save", arguments: { record: 0 } };
  const VICTIM = said("b", "a", [{ type: "text", text: "I keep it." }, call], { role: "assistant" })
    .replace('"record":0', `"record":${QUOTED}`)
    .replace('"content":[', '"stopReason":"toolUse","content":[');

  it("takes no entry out of a damaged line's call, wherever one byte of it is damaged", async () => {
    const intact = fileOf(HEADER, A, VICTIM, C);
    const start = intact.indexOf(VICTIM);
    for (let at = start; at < start + VICTIM.length; at++) {
      const damaged = Buffer.from(intact);
      damaged[at]! ^= 1;
      const lost = Buffer.concat([damaged.subarray(0, at), damaged.subarray(at + 1)]);
      for (const bytes of [damaged, lost]) {
        const { lines } = await repaired(bytes);
        const users = lines.filter((line) => line.includes('"role":"user"'));
        expect(users.filter((line) => JSON.parse(line).id === "quoted")).toEqual([]);
        expect(lines).toContain(A);
      }
    }
  });
});

describe("complaint: a hostile line stalls or ends the process", () => {
  it("reads what is nested 100,000 times, whole or glued to noise", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const nested = (id: string) =>
      A.replace(/^\{/, `{"deep":${deep},`).replace('"id":"a"', `"id":"${id}"`);
    const { lines } = await repaired(fileOf(HEADER, nested("a"), `noise${B}`));
    expect(lines).toEqual([HEADER, nested("a"), B]);
  });

  it("looks at each byte of a long line a bounded number of times", async () => {
    const many = '{"type":"message","id":'.repeat(200_000);
    const texts = '{"type":"'.repeat(200_000);
    const { lines } = await repaired(fileOf(HEADER, A, `${many}${B}`, `${texts}\0${C}`));
    expect(lines).toEqual([HEADER, A, B, C]);
  });

  it("puts an entry together that stands on 20,000 lines, and reads 10,000 on one", async () => {
    const list = Array.from({ length: 20_000 }, (_, at) => at);
    const spread = JSON.stringify({ ...JSON.parse(B), list }, null, 1);
    const halves = Array.from(
      { length: 10_000 },
      (_, at) => `${C.slice(0, 40)}${said(`d${at}`, "b")}`,
    );
    const { report, lines } = await repaired(fileOf(HEADER, A, spread, halves.join("")));
    expect(report).toMatchObject({ salvagedEntries: 10_001, droppedPieces: 10_000 });
    expect(JSON.parse(lines[2]!)).toEqual({ ...JSON.parse(B), list });
  });

  it("reads an entry of 20 MB behind a torn half", async () => {
    const long = said("b", "a", "long ".repeat(4_000_000));
    const { lines } = await repaired(fileOf(HEADER, A, `${B.slice(0, 30)}${long}`));
    expect(lines[2] === long).toBe(true);
  });
});
