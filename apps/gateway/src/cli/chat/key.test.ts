import { emitKeypressEvents } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createKeyReader, type Key, type Keypress } from "./key.ts";

/** What Node makes of bytes that arrive together, piece by piece. */
function keysOf(...pieces: readonly string[]): Key[] {
  const input = new PassThrough();
  let presses: Keypress[] = [];
  emitKeypressEvents(input);
  input.on("keypress", (text: string | undefined, key: object) => presses.push({ text, ...key }));
  const reader = createKeyReader();
  return pieces.flatMap((piece) => {
    input.emit("data", Buffer.from(piece));
    const keys = reader.take(presses);
    presses = [];
    return keys;
  });
}

const press = (name: string) => ({ kind: "press", name });

describe("keys", () => {
  it.each([
    ["\r", "enter"],
    ["\n", "newline"],
    ["\u001b\r", "newline"],
    ["\u001b[13;2u", "newline"],
    ["\t", "tab"],
    ["\u001b[Z", "shift-tab"],
    ["\u007f", "backspace"],
    ["\u001b\u007f", "cut-word"],
    ["\u0017", "cut-word"],
    ["\u001b[1;5D", "word-left"],
    ["\u001bf", "word-right"],
    ["\u001b[A", "up"],
    ["\u0003", "interrupt"],
    ["\u0004", "end-of-input"],
    ["\u0012", "search"],
    ["\u000f", "open"],
    ["\u001a", "suspend"],
    ["\u001b[5~", "page-up"],
  ])("%j is %s", (bytes, name) => {
    expect(keysOf(bytes)).toEqual([press(name)]);
  });

  it("of a line typed before there was a prompt send it; several lines are a draft", () => {
    expect(keysOf("hello\n", "again\n")).toEqual([
      ...[{ kind: "text", text: "hello" }, press("enter")],
      ...[{ kind: "text", text: "again" }, press("newline")],
    ]);
    expect(keysOf("hello\nsecond\n")).toEqual([{ kind: "paste", text: "hello\nsecond" }]);
  });

  it("that write are joined, whatever the language", () => {
    expect(keysOf("Grüße, 漢字 👩‍👧!")).toEqual([{ kind: "text", text: "Grüße, 漢字 👩‍👧!" }]);
    expect(keysOf("hello\r")).toEqual([{ kind: "text", text: "hello" }, press("enter")]);
  });

  it("that mean nothing here write nothing", () => {
    expect(keysOf("\u001b[15~", "\u001bx", "\u0007", "\u001b[99;5u")).toEqual([]);
  });
});

describe("what is pasted", () => {
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`).join("\r");

  it("is one key, also where it arrives in pieces", () => {
    const whole = `\u001b[200~${lines}\r\u001b[201~`;
    const pieces = whole.match(/[\s\S]{1,100}/g) ?? [];
    expect(keysOf(...pieces)).toEqual([{ kind: "paste", text: `${lines}\r` }]);
  });

  it("is one key where the terminal does not say that it is pasted, and sends nothing", () => {
    expect(keysOf(`${lines}\r`)).toEqual([{ kind: "paste", text: lines.replaceAll("\r", "\n") }]);
  });
});
