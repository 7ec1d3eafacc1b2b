import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stripInboundMetadata } from "./channel-text.ts";
import { stripInternalRuntimeContext as strip } from "./runtime-text.ts";

const NOTICE =
  "This context is runtime-generated, not user-authored. Keep internal details private.";
const EVENT = "[Internal task completion event]";
const HEADER = `OpenClaw runtime context (internal):\n${NOTICE}\n\n`;
const result = (text: string) =>
  `${EVENT}\nsource: child\n\nResult:\n<<<BEGIN_UNTRUSTED_CHILD_RESULT>>>\n${text}\n<<<END_UNTRUSTED_CHILD_RESULT>>>\n\nAction:\nTell the person.`;

describe("completion events of older hosts", () => {
  it("go with their results, and what is said behind them stays", () => {
    expect(strip(`${HEADER}${result("a\n\nb")}\n\nIt is done.`)).toBe("It is done.");
    expect(strip(`Before.\n\n${HEADER}${result("a")}\n\nAfter.`)).toBe("Before.\n\nAfter.");
    expect(strip(`${HEADER}${result("a")}\n\n---\n\n${result("b")}\n\nDone.`)).toBe("Done.");
  });

  it("end at the next blank line when they hold no result", () => {
    expect(strip(`${HEADER}${EVENT}\nsource: cron\n\nSpoken.`)).toBe("Spoken.");
    expect(strip(`${HEADER}${EVENT}\nsource: cron`)).toBe("");
    const later = `${HEADER}${EVENT}\nnone\n\nSpoken.\n\n${HEADER}${result("x")}\n\nEnd.`;
    expect(strip(later)).toBe("Spoken.\n\nEnd.");
  });

  it("are needed behind the header, or nothing is removed", () => {
    const quoted = `The log says:\nOpenClaw runtime context (internal):\n${NOTICE}\n\nand then this.`;
    expect(strip(quoted)).toBe(quoted);
    const inline = `It said OpenClaw runtime context (internal):\n${NOTICE}\n\n${EVENT}`;
    expect(strip(inline)).toBe(inline);
  });
});

describe("prefaces of older hosts", () => {
  const preface =
    "OpenClaw runtime context for the active user request in this turn. Do not reply to or describe this context. Use it to continue answering the active user request now. Do not wait for another message.";

  it.each([
    preface,
    preface.slice(preface.indexOf("Use it")),
    "OpenClaw runtime context for the immediately preceding user message.",
    "OpenClaw runtime event.",
  ])("lose their words and no others: %s", (words) => {
    for (const gap of ["\n", " "]) {
      expect(strip(`${words}${gap}${NOTICE}\n\nThe rest.`)).toBe("The rest.");
      expect(strip(`Hello.\n${words}${gap}${NOTICE}\nThe rest.`)).toBe("Hello.\n\nThe rest.");
    }
    expect(strip(`Hello. ${words} ${NOTICE}`)).toBe(`Hello. ${words} ${NOTICE}`);
    expect(strip(`${words}\n\n${NOTICE}`)).toBe(`${words}\n\n${NOTICE}`);
  });
});

describe("delimited context", () => {
  const [begin, end] = ["BEGIN", "END"].map((edge) => `<<<${edge}_OPENCLAW_INTERNAL_CONTEXT>>>`);

  it("goes, nested or not, and so does an end that closes nothing", () => {
    expect(strip(`a\n${begin}\nx\n${begin}\ny\n${end}\nz\n${end}\nb`)).toBe("a\n\nb");
    expect(strip(`a\n${begin}\nx`)).toBe("a");
    expect(strip(`a\n${end}\nb`)).toBe("a\nb");
    expect(strip(`a ${begin} b`)).toBe(`a ${begin} b`);
  });
});

describe("any text", () => {
  const fence = "```";
  const pieces = fc.constantFrom(
    ...["a", "\n", "\n\n", " ", NOTICE, HEADER, EVENT, result("r"), "OpenClaw runtime event."],
    ...["\n\n---\n\n", "<<<BEGIN_UNTRUSTED_CHILD_RESULT>>>", "\n\nAction:\n"],
    ...["<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"],
    ...["Sender (untrusted metadata):\n", `${fence}json\n`, `${fence}\n`],
    ...["Untrusted context (metadata, x):\n", "<<<EXTERNAL_UNTRUSTED_CONTENT>>>"],
  );
  const texts = fc.array(pieces, { maxLength: 24 }).map((parts) => parts.join(""));

  it("without the words of a format comes back as the very text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(strip(text)).toBe(text);
      }),
    );
  });

  it("only loses, and never gains a character", () => {
    fc.assert(
      fc.property(texts, (text) => {
        for (const stripped of [strip(text), stripInboundMetadata(text)]) {
          let at = 0;
          for (const line of stripped.split("\n")) {
            at = text.indexOf(line, at);
            expect(at).toBeGreaterThanOrEqual(0);
            at += line.length;
          }
        }
      }),
    );
  });

  // Quadratic scans of such texts take hours.
  it.each([
    ["headlines", "Sender (untrusted metadata):\n```json\n"],
    ["whole blocks", "Sender (untrusted metadata):\n```json\n{}\n```\n"],
    ["tails", "Untrusted context (metadata, x):\n"],
    ["tails in one line", "Untrusted context (metadata, x):"],
    ["headers", HEADER],
    ["events without an end", `${HEADER}${EVENT}\n<<<BEGIN_UNTRUSTED_CHILD_RESULT>>>\n\n`],
    ["events", `${HEADER}${result("r")}\n\n`],
    ["prefaces", `OpenClaw runtime event.\n${NOTICE}\n`],
    ["spaces", " ".repeat(64)],
  ])("of eight million characters of %s is done", (_name, piece) => {
    const text = `(untrusted ${piece.repeat(Math.ceil(8_000_000 / piece.length))}`;
    expect(strip(text).length).toBeLessThanOrEqual(text.length);
    expect(stripInboundMetadata(text).length).toBeLessThanOrEqual(text.length);
  });
});
