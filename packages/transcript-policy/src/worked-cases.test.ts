import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createCaseRunner, type WorkedCase } from "../fixtures/run-case.mjs";
import { decodeBase64 } from "./images/base64.ts";
import { readImageHeader } from "./images/header.ts";
import * as policy from "./index.ts";
import { isZeroUsage } from "./passes/replay-content.ts";
import * as passes from "./passes.ts";
import { repairSessionFileIfNeeded } from "./session-file.ts";
import { createSharpCodec } from "./sharp.ts";

const folder = new URL("../fixtures/", import.meta.url);
const cases: WorkedCase[] = JSON.parse(readFileSync(new URL("cases.json", folder), "utf8"));
const run = createCaseRunner({
  policy: { ...policy, ...passes },
  repairSessionFileIfNeeded,
  imageCodec: createSharpCodec(),
});

/**
 * The comparison form of the case format: JSON, zero usage left out, a new image told by its kind
 * and size.
 */
function comparable(value: unknown, input: unknown): unknown {
  const known = JSON.stringify(input) ?? "";
  return JSON.parse(
    JSON.stringify(value ?? null),
    function (this: { role?: unknown; type?: unknown }, key, inner: unknown) {
      if (key === "usage" && this.role === "assistant" && isZeroUsage(inner)) return undefined;
      if (
        key !== "data" ||
        this.type !== "image" ||
        typeof inner !== "string" ||
        inner.length <= 64 ||
        known.includes(inner)
      )
        return inner;
      const { mimeType, size } = readImageHeader(decodeBase64(inner)) ?? {};
      return `<re-encoded ${mimeType} ${size?.width}x${size?.height}>`;
    },
  );
}

const plainFile = (text: string) =>
  text
    .replace(/"id":"repair-[0-9a-f-]{36}"/g, '"id":"repair-<uuid>"')
    .replace(/("id":"repair-<uuid>"(?:,"parentId":"[^"]*")?,"timestamp":)"[^"]*"/g, '$1"<iso>"')
    .replace(/(SyntheticMissingToolResult":true\},"isError":true,"timestamp":)\d+/g, '$1"<now>"');

/** What a pipeline case wants, with its shorthands written out. */
function written(expected: unknown): Record<string, unknown> {
  const { ...wanted } = expected as Record<string, unknown>;
  if (wanted.replay === "=sanitized") wanted.replay = wanted.sanitized;
  if (wanted.outbound === "=replay") wanted.outbound = wanted.replay;
  return wanted;
}

async function check(worked: WorkedCase, expected: unknown): Promise<void> {
  const got = await run(structuredClone(worked));
  if (worked.kind === "repair-file") {
    const { logs: _logs, ...wanted } = expected as Record<string, unknown>;
    const { logs: _ours, ...result } = got as { text: string; logs: unknown };
    expect({ ...result, text: plainFile(result.text) }).toEqual(wanted);
  } else if (worked.kind === "pipeline") {
    const wanted = written(expected);
    const result = Object.fromEntries(
      Object.keys(wanted).map((key) => [key, (got as Record<string, unknown>)[key]]),
    );
    expect(comparable(result, worked.input)).toEqual(comparable(wanted, worked.input));
  } else expect(comparable(got, worked.input)).toEqual(comparable(expected, worked.input));
}

/** The values a case accepts: a disputed one follows what it recommends. */
function accepted({ expected, newest, disputed, recommend }: WorkedCase): unknown[] {
  const newer = newest === undefined || newest === "same" ? expected : newest;
  if (disputed === undefined || recommend === "oracle") return [expected];
  return recommend === "newest" ? [newer] : [expected, newer];
}

describe("the worked cases", () => {
  it.each(cases.map((worked) => [worked.id, worked.name, worked] as const))(
    "%s: %s",
    async (_id, _name, worked) => {
      const [first, ...others] = accepted(worked);
      try {
        await check(worked, first);
      } catch (error) {
        if (others.length === 0) throw error;
        await check(worked, others[0]);
      }
    },
  );

  it("are written in our own words, the same in the package and beside the cases", () => {
    expect(JSON.parse(readFileSync(new URL("texts.json", folder), "utf8"))).toEqual(passes.TEXTS);
  });
});
