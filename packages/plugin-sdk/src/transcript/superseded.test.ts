import fc from "fast-check";
import { expect, it } from "vitest";
import type { AgentMessage } from "../contract/message.ts";
import { assistant, toolCall, toolResult, user } from "../testing.ts";
import { supersededResults } from "./superseded.ts";

let calls = 0;
const use = (name: string, args: Record<string, unknown>, text: string, isError = false) => {
  const call = toolCall(name, args, `call_${calls++}`);
  return [assistant([call]), toolResult(call, text, { isError })];
};
const read = (path: string, text: string, extra = {}) => use("read", { path, ...extra }, text);
/** Which of the steps are superseded, in one long turn that goes on. */
const old = (...steps: AgentMessage[][]) => {
  const messages = [user("go"), ...steps.flat(), assistant("and now?")];
  return supersededResults(messages).map((index) => (index - 2) / 2);
};

it("what was read before a file was read again in the same way, or changed, is superseded", () => {
  expect(old(read("a", "one"), read("b", "x"), read("a", "two"))).toEqual([0]);
  expect(old(read("a", "one"), use("edit", { file_path: "a" }, "ok"))).toEqual([0]);
  expect(old(read("a", "one"), use("mcp__fs__write", { path: "a" }, "ok"))).toEqual([0]);
});

it("another part of a file, another file and a failure supersede nothing", () => {
  expect(old(read("a", "one", { offset: 1 }), read("a", "two", { offset: 50 }))).toEqual([]);
  expect(old(read("a", "one"), use("edit", { path: "b" }, "ok"))).toEqual([]);
  expect(old(read("a", "one"), use("edit", { path: "a" }, "no such text", true))).toEqual([]);
  expect(old(read("a", "one"), use("read", { path: "a" }, "EACCES", true))).toEqual([]);
});

it("output that came again word for word is superseded, whatever was asked", () => {
  const same = "12 passed";
  const run = (command: string, text: string) => use("exec", { command }, text);
  expect(old(run("npm test", same), run("npm t", same), run("ls", "a b"))).toEqual([0]);
  expect(old(run("npm test", same), use("status", {}, same))).toEqual([]);
});

it("the newest exchange stays, and nothing before a summary is looked at", () => {
  const twice = [...read("a", "one"), ...read("a", "one")];
  expect(supersededResults([user("go"), ...twice])).toEqual([2]);
  const summary: AgentMessage = { role: "compactionSummary", summary: "s", tokensBefore: 1 };
  expect(supersededResults([...read("a", "one"), summary, ...read("a", "one")])).toEqual([]);
});

it("what is superseded is never the last to say it", () => {
  const step = fc
    .tuple(fc.constantFrom("read", "edit", "exec"), fc.nat(2), fc.nat(2))
    .map(([name, file, text]) => use(name, { path: `f${file}` }, `text ${text}`));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const messages = steps.flat();
      for (const index of supersededResults(messages)) {
        expect(messages[index]!.role).toBe("toolResult");
        expect(index).toBeLessThan(messages.length - 2);
      }
    }),
  );
});
