import { describe, expect, it } from "vitest";
import { callTool, testHost, tools } from "../__fixtures__/host.ts";
import type { TurnStep } from "../index.ts";

const session = (spans?: { start(name: string): { end(outcome: string): void } }) =>
  testHost({
    replies: [callTool("look"), "done"],
    tools: tools({ look: () => "secret" }),
    ...(spans !== undefined && { ports: { spans } }),
  });

describe("an observer", () => {
  it("is told of every step with its time and outcome, and of no contents", async () => {
    const steps: TurnStep[] = [];
    await session().say("private", { onStep: (step) => steps.push(step) });
    const names = steps.map(({ name }) => name);
    expect(names.filter((name) => /^(chat|execute_tool|clew append)/.test(name))).toEqual([
      "clew append prompt",
      "chat model",
      "clew append reply",
      "execute_tool look",
      "clew append tool-result",
      "chat model",
      "clew append reply",
    ]);
    for (const { v, outcome, durationMs } of steps) {
      expect([v, outcome]).toEqual([1, "ok"]);
      expect(durationMs).toBeGreaterThanOrEqual(0);
    }
    expect(JSON.stringify(steps)).not.toMatch(/private|secret/);
  });

  it("may be a tracer: every span ends once", async () => {
    const open = new Map<string, number>();
    let spans = 0;
    await session({
      start(name) {
        spans++;
        open.set(name, (open.get(name) ?? 0) + 1);
        return { end: () => void open.set(name, open.get(name)! - 1) };
      },
    }).say("hi");
    expect(spans).toBeGreaterThan(8);
    expect([...open.values()].every((count) => count === 0)).toBe(true);
  });

  it("that throws changes nothing", async () => {
    const broken = () => {
      throw new Error("observer");
    };
    const host = session({ start: broken });
    const listeners = { onStep: broken, onEvent: broken };
    expect((await host.say("hi", listeners)).outcome).toBe("completed");
    expect((await host.say("hi", listeners)).outcome).toBe("completed");
    expect(host.log.lines.filter((line) => line.includes("onEvent"))).toHaveLength(2);
  });
});
