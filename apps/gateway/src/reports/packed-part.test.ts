import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { packPart, unpackPart } from "./packed-part.ts";
import { readPart } from "./report-log.ts";

const SCHEMA = JSON.stringify({
  name: "read_file",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
}).repeat(4);

describe("a part of a request", () => {
  it("comes back as it was, and takes no more room than it says something", async () => {
    for (const content of ["", "x", "ünïcode 🦊", SCHEMA, "\u001f", SCHEMA.repeat(10_000)]) {
      const packed = await packPart(content);
      expect(packed.length).toBeLessThanOrEqual(Buffer.byteLength(content));
      expect(await unpackPart(packed)).toBe(content);
    }
    expect((await packPart(SCHEMA)).length).toBeLessThan(SCHEMA.length / 2);
  });

  it("of an earlier release is what it says, and one that is damaged is none", async () => {
    const folder = await temporaryHome();
    await mkdir(join(folder, "parts"));
    const put = (name: string, bytes: Buffer | string) =>
      writeFile(join(folder, "parts", name), bytes);
    await put("plain", SCHEMA);
    expect(await readPart(folder, "plain")).toBe(SCHEMA);
    const packed = await packPart(SCHEMA);
    await put("packed", packed);
    expect(await readPart(folder, "packed")).toBe(SCHEMA);
    for (let at = 20; at < packed.length; at += 7) {
      const damaged = Buffer.from(packed);
      damaged[at] = damaged[at]! ^ 4;
      await put("damaged", damaged);
      expect(await readPart(folder, "damaged")).toBe(null);
    }
    await put("cut", packed.subarray(0, 40));
    expect(await readPart(folder, "cut")).toBe(null);
  });
});
