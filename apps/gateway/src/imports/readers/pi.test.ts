import { describe, expect, it } from "vitest";
import { read, readText, told } from "../testing/import-world.ts";
import { asLines, PI } from "../testing/transcripts.ts";

describe("a session file of pi or OpenClaw", () => {
  it("keeps its ids, its tree and its usage, and what nobody knows as a record", () => {
    const { branch, of, tally } = read("pi", PI);
    expect(told(branch())).toEqual([
      ...["user: What is in a?", "assistant: A.", "custom", "user: Thanks."],
    ]);
    expect(branch().map(({ id }) => id)).toEqual(["e1", "e3", "e4", "e5"]);
    expect(of("").find(({ id }) => id === "e2")).toMatchObject({
      ...{ parentId: "e1", message: { usage: { cacheRead: 5, totalTokens: 17 } } },
    });
    expect(of("").find(({ id }) => id === "e4")).toMatchObject({
      ...{ customType: "pi.mood", data: { mood: "good" } },
    });
    expect(tally.kept).toEqual({ mood: 1 });
  });

  it("goes on behind a damaged line, which is named", () => {
    const text = asLines(PI).replace(/\{"id":"e3".*\n/, "{ broken\n");
    const { branch, tally } = readText("pi", text);
    expect(told(branch())).toEqual([
      ...["user: What is in a?", "assistant: Nothing.", "custom", "user: Thanks."],
    ]);
    expect(tally.damaged).toEqual([4]);
  });

  it("gives ids that could be anything plain ones, and whoever points at them follows", () => {
    const { branch } = read("pi", [
      PI[0],
      { type: "message", id: "../../x", parentId: null, timestamp: "", message: said("One.") },
      { type: "message", id: "b", parentId: "../../x", timestamp: "", message: said("Two.") },
    ]);
    const [first, second] = branch();
    expect(first!.id).toMatch(/^[0-9a-f]{16}$/);
    expect(second!.parentId).toBe(first!.id);
  });

  it("is brought to today's form where an older version wrote it", () => {
    const { branch, tally } = read("pi", [
      { type: "session", id: "old", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/" },
      { type: "message", timestamp: "2025-01-01T00:00:01.000Z", message: said("One.") },
      { type: "mood", timestamp: "2025-01-01T00:00:02.000Z" },
      { type: "message", timestamp: "2025-01-01T00:00:03.000Z", message: said("Two.") },
    ]);
    expect(told(branch()).filter((line) => line !== "custom")).toEqual([
      "user: One.",
      "user: Two.",
    ]);
    expect(tally).toMatchObject({ understood: 3, kept: { mood: 1 } });
  });
});

const said = (content: string) => ({ role: "user", content });
