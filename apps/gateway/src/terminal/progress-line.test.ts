import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { showProgressLine } from "./progress-line.ts";

/** A screen of 20 columns, and a clock that is told the time. */
function shown() {
  let time = 0;
  const bytes: string[] = [];
  const screen = { columns: 20, write: (text: string) => bytes.push(text) };
  const line = showProgressLine(screen, "clew doctor", () => time);
  const at = (ms: number) => {
    time = ms;
  };
  onTestFinished(() => line.ends());
  return { line, bytes, at };
}

describe("the line that says a command is at work", () => {
  it("is there once the work takes long, with what is done and how long it has taken", () => {
    const { line, bytes, at } = shown();
    at(299);
    line.says("looking");
    expect(bytes).toEqual([]);
    at(2100);
    line.says("looking at settings and more");
    expect(bytes).toEqual(["\r⠋ looking at settin\u001b[K"]);
    at(2110);
    line.says("at once again");
    expect(bytes).toHaveLength(1);
  });

  it("goes on turning while nothing is said", async () => {
    const { bytes, at } = shown();
    at(1000);
    while (bytes.length === 0) await sleep(10);
    expect(bytes[0]).toBe("\r⠋ clew doctor · 1 s\u001b[K");
  });

  it("gives way to other words, and to questions until they are answered", () => {
    const { line, bytes, at } = shown();
    at(400);
    line.says("one");
    line.yields();
    expect(bytes.splice(0)).toEqual(["\r⠋ one · 0 s\u001b[K", "\r\u001b[K"]);
    at(600);
    line.says("two");
    expect(bytes).toEqual([]);
    at(800);
    line.says("three");
    const goOn = line.pauses();
    expect(bytes.splice(0)).toEqual(["\r⠙ three · 0 s\u001b[K", "\r\u001b[K"]);
    at(2000);
    line.says("four");
    expect(bytes).toEqual([]);
    goOn();
    at(2400);
    line.says("five");
    expect(bytes).toEqual(["\r⠹ five · 2 s\u001b[K"]);
  });

  it("leaves nothing behind", () => {
    const { line, bytes, at } = shown();
    at(400);
    line.says("one");
    line.ends();
    at(1000);
    line.says("two");
    expect(bytes).toEqual(["\r⠋ one · 0 s\u001b[K", "\r\u001b[K"]);
  });
});
