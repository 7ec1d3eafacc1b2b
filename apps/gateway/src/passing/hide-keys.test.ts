import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hideKeys } from "./hide-keys.ts";
import { SecretFinder } from "./secret-finder.ts";
import { type SecretReader, secretReader } from "./secret-reader.ts";

const KEY = "SECRETKEY-1234/x";
const SENT = { authorization: `Bearer ${KEY}`, "anthropic-version": "2023-06-01" };
const HIDDEN = "*".repeat(KEY.length);

async function passed(
  status: number,
  text: string,
  cuts: readonly number[] = [],
  sent: Record<string, string> = SENT,
) {
  const bytes = Buffer.from(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  async function* pieces() {
    let at = 0;
    for (const end of ends) {
      yield bytes.subarray(at, end);
      at = end;
    }
  }
  const answer = hideKeys({ status, headers: [], bytes: pieces() }, sent);
  const heard: Uint8Array[] = [];
  for await (const piece of answer.bytes) heard.push(piece);
  return Buffer.concat(heard).toString();
}

const cuts = fc.array(fc.nat(400), { maxLength: 12 });
const error = (said: string) => `data: {"error": {"message": "bad ${said}"}}\n\n`;
const reply = (said: string) =>
  `data: {"delta": {"content": "{\\"error\\": {\\"x\\": \\"${said}\\"}}"}}\n\n`;

const key = fc.string({
  unit: fc.constantFrom(..."abcXYZ019-_+/=.&<>'\"%#;\\"),
  ...{ minLength: 8, maxLength: 30 },
});

const hex = (letter: string, length = 2) => letter.charCodeAt(0).toString(16).padStart(length, "0");
const NAMES: Record<string, string> = {
  ...{ "+": "plus", "/": "sol", "=": "equals", "&": "amp", "<": "lt", ">": "gt", "%": "percnt" },
  ...{ "'": "apos", '"': "quot", "#": "num", ";": "semi", "\\": "bsol", _: "lowbar" },
};
/** Of a letter, as writers of JSON, addresses and HTML have it. */
const WAYS: ((letter: string) => string)[] = [
  (letter) => letter,
  (letter) => `\\u${hex(letter, 4)}`,
  (letter) => `\\u${hex(letter, 4).toUpperCase()}`,
  (letter) => `\\\\u${hex(letter, 4)}`,
  (letter) => (/\w/.test(letter) ? letter : `\\${letter}`),
  (letter) => `%${hex(letter)}`,
  (letter) => `%${hex(letter).toUpperCase()}`,
  (letter) => `%25${hex(letter)}`,
  (letter) => (letter in NAMES ? `&${NAMES[letter]};` : letter),
  (letter) => (letter in NAMES ? `&amp;${NAMES[letter]};` : letter),
  (letter) => `&#${letter.charCodeAt(0)};`,
  (letter) => `&#0${letter.charCodeAt(0)};`,
  (letter) => `&#x${hex(letter)};`,
  (letter) => `&#X${hex(letter).toUpperCase()};`,
];

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

  it("is hidden whatever mixture of writings its letters have, wherever its bytes are cut", () =>
    fc.assert(
      fc.asyncProperty(
        key,
        fc.array(fc.nat(1000)),
        cuts,
        fc.boolean(),
        async (own, ways, at, all) => {
          const written = [...own].map((letter, place) => {
            const how = WAYS[(ways[place % ways.length] ?? 0) % WAYS.length]!;
            const outer = WAYS[((ways[place % ways.length] ?? 0) * 7) % WAYS.length]!;
            return how(letter).replace(/[\\%&#;]/g, (sign) => (all ? outer(sign) : sign));
          });
          const said = written.join("");
          const sent = { "x-api-key": own };
          const shown = await passed(400, `{"error":"<${said}>"}`, at, sent);
          expect(shown.replace(/\*+/, "")).toBe('{"error":"<>"}');
          const streamed = await passed(200, `${reply("x")}${error(said)}${reply(said)}`, at, sent);
          expect(streamed).toBe(`${reply("x")}${error("*".repeat(said.length))}${reply(said)}`);
        },
      ),
    ));

  it("is hidden in its base64 and hex, however these are written", async () => {
    for (const told of [
      Buffer.from(`me:${KEY}`).toString("base64"),
      Buffer.from(KEY).toString("hex"),
    ])
      for (const way of WAYS) {
        const said = [...told].map((letter) => way(letter)).join("");
        const shown = await passed(400, `{"error":"${said}"}`);
        expect(shown).toContain("*".repeat(20));
        expect(shown.length).toBe(said.length + 12);
        expect(shown).not.toContain(said.slice(said.length / 3, said.length / 2));
      }
  });

  it("is hidden in its base64 and hex in what a stream says of an error, wherever its bytes are cut", () =>
    fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        const hex = Buffer.from(KEY).toString("hex");
        const base64 = Buffer.from(KEY).toString("base64").replace(/=+$/, "");
        const text = (told: (said: string) => string) =>
          `${reply(hex)}${error(told(hex))}${reply(base64)}${error(told(base64))}`;
        const shown = await passed(200, text(String), at);
        expect(shown.length).toBe(text(String).length);
        // Of the last letter some bits are another's.
        const some = "*".repeat(base64.length - 1);
        const masked = text((said) => (said === hex ? "*".repeat(hex.length) : some));
        expect(shown.replace(`${some}${base64.at(-1)}`, some)).toBe(masked);
      }),
    ));

  it("is looked for by few steps that come again and again, whatever stands there", () => {
    const reader = secretReader([[...KEY].map((letter) => [letter])]);
    for (const part of ["\\", "%25", "&amp;", "S", KEY.slice(0, -1), "\\u0053", "\\\\/"]) {
      const steps = new Set<object>();
      const counted: SecretReader = {
        ...reader,
        behind: () => expect.unreachable("There is nothing to look back for."),
        step(state, byte) {
          const step = reader.step(state, byte);
          steps.add(step);
          return step;
        },
      };
      new SecretFinder(counted).push(Buffer.from(part.repeat(20_000)));
      expect(steps.size).toBeLessThan(200);
    }
  });

  it("is no word that anybody may say", async () => {
    const answer = { status: 404, headers: [], bytes: (async function* () {})() };
    expect(hideKeys(answer, { authorization: "Bearer ollama" })).toBe(answer);
  });
});
