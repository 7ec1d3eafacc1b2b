import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hideKeys } from "./hide-keys.ts";

const KEY = "SECRETKEY-1234/x";
const SENT = { authorization: `Bearer ${KEY}`, "anthropic-version": "2023-06-01" };
const HIDDEN = "*".repeat(KEY.length);

async function passed(status: number, text: string, cuts: readonly number[] = []) {
  const bytes = Buffer.from(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  async function* pieces() {
    let at = 0;
    for (const end of ends) {
      yield bytes.subarray(at, end);
      at = end;
    }
  }
  const answer = hideKeys({ status, headers: [], bytes: pieces() }, SENT);
  const heard: Uint8Array[] = [];
  for await (const piece of answer.bytes) heard.push(piece);
  return Buffer.concat(heard).toString();
}

const cuts = fc.array(fc.nat(400), { maxLength: 12 });
const error = (said: string) => `data: {"error": {"message": "bad ${said}"}}\n\n`;
const reply = (said: string) =>
  `data: {"delta": {"content": "{\\"error\\": {\\"x\\": \\"${said}\\"}}"}}\n\n`;

describe("the gateway's key", () => {
  it("is hidden in all of an error, wherever its bytes are cut", () =>
    fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        const text = `<html>${KEY} 2023-06-01 ${encodeURIComponent(KEY)} ${KEY.slice(0, 9)}</html>`;
        const shown = await passed(401, text, at);
        expect(shown).toBe(
          text
            .replace(KEY, HIDDEN)
            .replace(encodeURIComponent(KEY), "*".repeat(encodeURIComponent(KEY).length)),
        );
      }),
    ));

  it("is hidden in what a stream says of an error, and nowhere else in it", () =>
    fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        const text = `${reply(KEY)}event: error\n${error(KEY)}${reply(KEY)}`;
        const shown = await passed(200, text, at);
        expect(shown).toBe(`${reply(KEY)}event: error\n${error(HIDDEN)}${reply(KEY)}`);
      }),
    ));

  it("is hidden in the headers of an error", () => {
    const headers = [["www-authenticate", `Bearer ${KEY} is wrong`]] as const;
    const answer = hideKeys({ status: 401, headers, bytes: (async function* () {})() }, SENT);
    expect(answer.headers).toEqual([["www-authenticate", `Bearer ${HIDDEN} is wrong`]]);
  });

  it("is no word that anybody may say", async () => {
    const answer = { status: 404, headers: [], bytes: (async function* () {})() };
    expect(hideKeys(answer, { authorization: "Bearer ollama" })).toBe(answer);
  });
});
