import { appendFileSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { repairSessionFileIfNeeded } from "../session-file.ts";
import { TEXTS } from "../texts.ts";

let folder: string;
let sessionFile: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "clew-repair-"));
  sessionFile = join(folder, "session.jsonl");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const header = {
  type: "session",
  version: 3,
  id: "s1",
  timestamp: "2026-05-01T00:00:00.000Z",
  cwd: "/w",
};
const entry = (id: string, message: object) => ({
  type: "message",
  id,
  parentId: null,
  timestamp: header.timestamp,
  message,
});
const asked = entry("m1", { role: "user", content: "a", timestamp: 1 });
const lines = (...entries: unknown[]) =>
  entries
    .map((line) => (typeof line === "string" ? line : JSON.stringify(line)))
    .join("\n")
    .concat("\n");
const write = (...entries: unknown[]) => writeFile(sessionFile, lines(...entries));
const quoteIn = (line: string) => line.indexOf('{"type":"message"');
const zeroed = (line: string, from: number, count: number) =>
  line.slice(0, from) + "\0".repeat(count) + line.slice(from + count);
const fail = () => Promise.reject(Object.assign(new Error("EPERM: simulated"), { code: "EPERM" }));
const working = { rename, unlink: (path: string) => rm(path) };

describe("repair of a session file", () => {
  it("leaves an orderly file alone, to the byte and the time it was written", async () => {
    await write(header, "", asked);
    const before = await stat(sessionFile);
    for (let run = 0; run < 2; run++)
      expect(await repairSessionFileIfNeeded({ sessionFile: ` ${sessionFile} ` })).toEqual({
        repaired: false,
        droppedLines: 0,
      });
    expect((await stat(sessionFile)).mtimeMs).toBe(before.mtimeMs);
    expect(await readdir(folder)).toEqual(["session.jsonl"]);
  });

  it("takes no entry that somebody quoted for one, where the line that quotes it is torn", async () => {
    const quoted = entry("deadbeef", { role: "user", content: "quoted", timestamp: 1 });
    const quoting = { type: "custom", id: "c1", parentId: "m1", timestamp: header.timestamp };
    const line = JSON.stringify({
      ...quoting,
      customType: "n",
      data: { kept: { quoted, more: 1 } },
    });
    const torn = line.slice(0, line.indexOf(',"more"'));
    await write(header, asked, `${torn}\0\0`, entry("m2", { role: "user", content: "b" }));
    await repairSessionFileIfNeeded({ sessionFile });
    const left = (await readFile(sessionFile, "utf8")).split("\n");
    expect(left.filter((text) => text.includes('"id":"deadbeef"'))).toEqual([]);
    expect(left.filter((text) => text.includes('"id":"m2"'))).toHaveLength(1);
  });

  it.each([
    ["behind the quote", (line: string) => zeroed(line, line.indexOf('},"more"') + 1, 9)],
    ["before the quote", (line: string) => zeroed(line, line.indexOf('"quoted"') - 8, 17)],
    ["from the line's beginning to the quote", (line: string) => zeroed(line, 0, quoteIn(line))],
    ["all around it", (line: string) => zeroed(zeroed(line, 0, quoteIn(line)), line.length - 3, 2)],
  ])("makes no entry of one that was quoted where bytes became zero: %s", async (_, damage) => {
    for (const parentId of ["m1", "cafecafe", null])
      for (const more of [{ more: 1 }, {}]) {
        const said = { role: "user", content: "quoted", timestamp: 1 };
        const quoted = { ...entry("deadbeef", said), parentId };
        const quoting = { ...entry("c1", {}), message: undefined, type: "custom", customType: "n" };
        const line = JSON.stringify({ ...quoting, data: { quoted, ...more, after: [1] } });
        await write(header, asked, damage(line), entry("m2", { role: "user", content: "b" }));
        await repairSessionFileIfNeeded({ sessionFile });
        const left = await readFile(sessionFile, "utf8");
        expect(left).not.toContain("deadbeef");
        expect(left).toContain('"id":"m2"');
      }
  });

  it("reads a text that somebody wrote with its line feeds as they are", async () => {
    const content = "My list:\n- milk\n- eggs\n\n1\n2";
    const line = JSON.stringify(entry("m2", { role: "user", content, timestamp: 2 }));
    await write(
      header,
      asked,
      line.replaceAll("\\n", "\n"),
      entry("m4", { role: "user", content: "c" }),
    );
    await repairSessionFileIfNeeded({ sessionFile });
    const left = (await readFile(sessionFile, "utf8")).trim().split("\n");
    expect(left.map((text) => JSON.parse(text).message?.content)).toEqual([
      ...[undefined, "a", content, "c"],
    ]);
  });

  it("reads an entry that lacks only its first brace, and one that was written as a text", async () => {
    const [one, other] = ["m2", "m3"].map((id) =>
      JSON.stringify({
        ...entry(id, { role: "user", content: `say ${id}`, timestamp: 2 }),
        parentId: "m1",
      }),
    ) as [string, string];
    await write(header, asked, one.slice(1), JSON.stringify(other), one.slice(20));
    await repairSessionFileIfNeeded({ sessionFile });
    const left = (await readFile(sessionFile, "utf8")).trim().split("\n");
    expect(left.map((text) => JSON.parse(text).id)).toEqual(["s1", "m1", "m2", "m3"]);
    expect(left.slice(2)).toEqual([one, other]);
  });

  it("keeps the lines of a text that went on over two of them, as nobody can tell what stood there", async () => {
    const line = JSON.stringify(entry("m2", { role: "user", content: "12\n34", timestamp: 2 }));
    await write(header, asked, line.replaceAll("\\n", "\n"));
    const { keptIn } = await repairSessionFileIfNeeded({ sessionFile, keepRemoved: true });
    const kept = await readFile(keptIn!, "utf8");
    expect(kept).toContain('"content":"12\n34"');
    expect(await readFile(sessionFile, "utf8")).toContain('"content":"1234"');
  });

  it("makes no entry of the beginning of one and the end of another, whose times do not meet", async () => {
    const [one, other] = ["m2", "m3"].map((id) =>
      JSON.stringify(entry(id, { role: "user", content: id, timestamp: 1 })),
    ) as [string, string];
    const head = one.slice(0, one.indexOf("-01T") + 1);
    const tail = other.slice(other.indexOf("T00:00"));
    await write(header, asked, head, tail, entry("m4", { role: "user", content: "c" }));
    await repairSessionFileIfNeeded({ sessionFile });
    const left = await readFile(sessionFile, "utf8");
    expect(left).not.toContain("2026-05-T00");
    expect(left).toContain('"id":"m4"');
  });

  it("gives a header whose id lost a bit the id that its file's name says, and no other", async () => {
    const id = "0b9f3c1e-1111-4222-8333-448800545185";
    for (const name of [`${id}.jsonl`, `2026-05-01T00-00-00-000Z_${id}.jsonl`]) {
      sessionFile = join(folder, name);
      for (let at = 0; at < id.length; at++)
        for (let bit = 0; bit < 8; bit++) {
          const line = Buffer.from(JSON.stringify({ ...header, id }));
          line[line.indexOf(id) + at]! ^= 1 << bit;
          await writeFile(sessionFile, Buffer.concat([line, Buffer.from(`\n${lines(asked)}`)]));
          expect(await repairSessionFileIfNeeded({ sessionFile })).toMatchObject({
            repaired: true,
          });
          const [first, ...rest] = (await readFile(sessionFile, "utf8")).split("\n");
          expect(JSON.parse(first!)).toMatchObject({ ...header, id });
          expect(rest).toEqual([JSON.stringify(asked), ""]);
        }
    }
    for (const [name, own] of [
      [id, "0b9f3c1e-1111-4222-8333-448800549999"],
      [id, "another"],
      ["s1", "s3"],
    ]) {
      sessionFile = join(folder, `${name}.jsonl`);
      await write({ ...header, id: own }, asked);
      expect(await repairSessionFileIfNeeded({ sessionFile })).toMatchObject({ repaired: false });
    }
  });

  it("gives a header whose id lost, won or changed one character the id of its file's name", async () => {
    const id = "0b9f3c1e-1111-4222-8333-448800545185";
    sessionFile = join(folder, `${id}.jsonl`);
    for (const at of [0, 1, 8, 20, id.length - 1, id.length])
      for (const own of [
        `${id.slice(0, at)}x${id.slice(at + 1)}`,
        `${id.slice(0, at)}x${id.slice(at)}`,
        id.slice(0, at) + id.slice(at + 1),
      ]) {
        if (own === id) continue;
        await write({ ...header, id: own }, asked);
        expect(await repairSessionFileIfNeeded({ sessionFile })).toMatchObject({ repaired: true });
        expect(await readFile(sessionFile, "utf8")).toBe(lines({ ...header, id }, asked));
      }
  });

  it("sees damage done to a file it found in order before", async () => {
    await write(header, asked);
    await repairSessionFileIfNeeded({ sessionFile });
    await write(header, asked, "torn li");
    expect(await repairSessionFileIfNeeded({ sessionFile })).toMatchObject({
      repaired: true,
      droppedLines: 1,
    });
  });

  it("drops torn lines and message entries without a message, keeps mode and folder, and leaves no copy behind", async () => {
    await write(
      "junk",
      header,
      entry("m0", { role: " " }),
      { type: "message", id: "x" },
      asked,
      '{"type":"mess',
    );
    await chmod(sessionFile, 0o640);
    await chmod(folder, 0o755);
    expect(await repairSessionFileIfNeeded({ sessionFile })).toMatchObject({
      repaired: true,
      droppedLines: 4,
    });
    expect(await readFile(sessionFile, "utf8")).toBe(lines(header, asked));
    expect((await stat(sessionFile)).mode & 0o777).toBe(0o640);
    expect((await stat(folder)).mode & 0o777).toBe(0o755);
    expect(await readdir(folder)).toEqual(["session.jsonl"]);
  });

  it("leaves a failed reply alone that says why it failed", async () => {
    const told = { role: "assistant", content: [], stopReason: "error", errorMessage: "No key." };
    await write(header, entry("m1", { role: "user", content: "hi" }), entry("m2", told));
    expect(await repairSessionFileIfNeeded({ sessionFile })).toMatchObject({ repaired: false });
  });

  it("mends failed turns, blank users and damaged images, and nothing that is none", async () => {
    const damaged = { type: "image", data: "bm90IGFuIGltYWdl", media_type: "image/png" };
    const sound = entry("m6", { role: "assistant", content: [], stopReason: "aborted" });
    await write(
      header,
      entry("m1", { role: "assistant", content: [], stopReason: "error" }),
      entry("m2", { role: "user", content: "  " }),
      entry("m3", { role: "user", content: [{ type: "text", text: "" }] }),
      entry("m4", { role: "toolResult", toolCallId: "c", content: [damaged] }),
      sound,
    );
    const report = await repairSessionFileIfNeeded({ sessionFile });
    expect(report).toEqual({
      repaired: true,
      droppedLines: 0,
      rewrittenAssistantMessages: 1,
      droppedBlankUserMessages: 0,
      rewrittenUserMessages: 2,
      removedCorruptedImageBlocks: 1,
      insertedToolResults: 0,
    });
    expect(await readFile(sessionFile, "utf8")).toBe(
      lines(
        header,
        entry("m1", {
          role: "assistant",
          content: [{ type: "text", text: TEXTS.streamErrorFallback }],
          stopReason: "error",
        }),
        entry("m2", { role: "user", content: TEXTS.blankUserFallback }),
        entry("m3", { role: "user", content: [{ type: "text", text: TEXTS.blankUserFallback }] }),
        entry("m4", {
          role: "toolResult",
          toolCallId: "c",
          content: [{ type: "text", text: TEXTS.corruptedImage }],
        }),
        sound,
      ),
    );
    expect(await repairSessionFileIfNeeded({ sessionFile })).toEqual({
      repaired: false,
      droppedLines: 0,
    });
  });

  it("writes the result of a call its provider would miss behind it, once", async () => {
    const call = { type: "toolCall", id: "call_1|fc_1", name: "exec", arguments: {} };
    await write(
      header,
      entry("m1", {
        role: "assistant",
        content: [call],
        stopReason: "toolUse",
        api: "openai-chatgpt-responses",
        provider: "openai",
      }),
      asked,
    );
    expect(await repairSessionFileIfNeeded({ sessionFile })).toMatchObject({
      repaired: true,
      insertedToolResults: 1,
    });
    const inserted = JSON.parse((await readFile(sessionFile, "utf8")).split("\n")[2] ?? "");
    expect(inserted).toMatchObject({
      parentId: "m1",
      message: { role: "toolResult", toolCallId: "call_1|fc_1", isError: true },
    });
    expect(await repairSessionFileIfNeeded({ sessionFile })).toMatchObject({ repaired: false });
  });

  it.each([
    ["with its mark", "\ufeff"],
    ["without it", ""],
  ])("says of a file in UTF-16 that it is one, and leaves it alone, %s", async (_, mark) => {
    const lines = `${JSON.stringify({ type: "session", version: 3, id: "s" })}\r\n`.repeat(3);
    for (const bytes of [
      Buffer.from(mark + lines, "utf16le"),
      Buffer.from(mark + lines, "utf16le").swap16(),
    ]) {
      await writeFile(sessionFile, bytes);
      expect(await repairSessionFileIfNeeded({ sessionFile })).toMatchObject({
        ...{ repaired: false, code: "header-invalid" },
        reason: expect.stringContaining("UTF-16"),
      });
      expect(await readFile(sessionFile)).toEqual(bytes);
    }
  });

  it("says why it does nothing: no file, no entries, no header, not readable", async () => {
    const outcomeFor = async (path: string) =>
      await repairSessionFileIfNeeded({ sessionFile: path });
    const missing = { code: "file-missing", reason: "missing session file" };
    expect(await outcomeFor("  ")).toMatchObject(missing);
    expect(await outcomeFor(sessionFile)).toMatchObject(missing);
    expect(await outcomeFor(folder)).toMatchObject({
      code: "not-read",
      reason: expect.stringMatching(/^failed to read session file: EISDIR/),
    });
    await write("x", "y");
    expect(await repairSessionFileIfNeeded({ sessionFile })).toEqual({
      repaired: false,
      droppedLines: 2,
      code: "file-empty",
      reason: "empty session file",
    });
    await write({ a: 1 }, "x");
    const warnings: string[] = [];
    const report = await repairSessionFileIfNeeded({
      sessionFile,
      warn: (message) => warnings.push(message),
    });
    expect(report).toEqual({
      repaired: false,
      droppedLines: 1,
      code: "header-invalid",
      reason: "invalid session header",
    });
    expect(warnings).toHaveLength(1);
  });

  it("reports the backup when it cannot be removed, and keeps the original when it cannot be replaced", async () => {
    await write(header, "bad", asked);
    const original = await readFile(sessionFile, "utf8");
    const stuck = await repairSessionFileIfNeeded({
      sessionFile,
      files: { ...working, rename: fail },
    });
    expect(stuck).toEqual({
      repaired: false,
      droppedLines: 1,
      code: "not-written",
      reason: "repair failed: EPERM: simulated",
      systemCode: "EPERM",
    });
    expect(await readFile(sessionFile, "utf8")).toBe(original);
    expect(await readdir(folder)).toEqual(["session.jsonl"]);

    const kept = await repairSessionFileIfNeeded({
      sessionFile,
      files: { ...working, unlink: fail },
    });
    expect(kept).toMatchObject({ repaired: true, backupPath: expect.stringContaining(".bak-") });
    expect(await readFile(kept.backupPath ?? "", "utf8")).toBe(original);
  });

  it("does not overwrite what was appended while it worked", async () => {
    await write(header, "bad", asked);
    const late = lines(entry("m2", { role: "user", content: "late" }));
    let isFirst = true;
    const groups = {
      sizeOf: () => {
        if (isFirst) appendFileSync(sessionFile, late);
        isFirst = false;
        return undefined;
      },
      resize: (line: Buffer) => line,
    };
    expect(await repairSessionFileIfNeeded({ sessionFile, groups })).toMatchObject({
      repaired: false,
      code: "not-written",
      reason: "repair failed: the file was written to meanwhile",
    });
    expect(await readFile(sessionFile, "utf8")).toBe(lines(header, "bad", asked) + late);
  });

  it("takes over what was appended in the very moment of the replacement", async () => {
    await write(header, "bad", asked);
    const late = lines(entry("m2", { role: "user", content: "late" }));
    const files = {
      ...working,
      rename: (from: string, to: string) => {
        appendFileSync(to, late);
        return rename(from, to);
      },
    };
    expect(await repairSessionFileIfNeeded({ sessionFile, files })).toMatchObject({
      repaired: true,
    });
    expect(await readFile(sessionFile, "utf8")).toBe(lines(header, asked) + late);
    expect(await readdir(folder)).toEqual(["session.jsonl"]);
  });

  it("shows in a dry run what it would do, and does nothing", async () => {
    await write(header, "bad", asked);
    const before = await readFile(sessionFile, "utf8");
    expect(await repairSessionFileIfNeeded({ sessionFile, dryRun: true })).toMatchObject({
      repaired: false,
      droppedLines: 1,
      code: "dry-run",
      reason: "dry run",
    });
    expect(await readFile(sessionFile, "utf8")).toBe(before);
  });

  it("reads lines across chunks, with either line ending and separators inside text", async () => {
    const long = entry("m2", { role: "user", content: `${"ह".repeat(200_000)}\u2028x` });
    await writeFile(
      sessionFile,
      `\ufeff${lines(header, long, asked).replaceAll("\n", "\r\n")}bad\r\n`,
    );
    expect(await repairSessionFileIfNeeded({ sessionFile })).toMatchObject({
      repaired: true,
      droppedLines: 1,
    });
    expect(await readFile(sessionFile, "utf8")).toBe(lines(header, long, asked));
  });
});
