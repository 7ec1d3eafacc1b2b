import { describe, expect, it } from "vitest";
import { asking, assistant, call, result, text, user } from "../__fixtures__/messages.ts";
import { TEXTS } from "../texts.ts";
import { announceLateResults } from "./late-results.ts";

const madeUp = result("a", { isError: true, content: [text(TEXTS.missingToolResult)] });
const kindsAfter = (...messages: Parameters<typeof announceLateResults>[0]["messages"]) =>
  announceLateResults({ messages }).messages.map(({ role }) => role);

describe("a late result", () => {
  it("becomes a message of its own, with what identified it", () => {
    const late = result("a", { __openclaw: { id: "e5" }, timestamp: 7 });
    const { messages, changes } = announceLateResults({
      messages: [user("q"), asking([call("a")]), user("and?"), assistant([text("no")]), late],
    });
    expect(messages.at(-1)).toEqual({
      role: "custom",
      customType: "late-tool-result",
      content: [text("[Late result of tool call a (read)]"), text("ok")],
      __openclaw: { id: "e5" },
      timestamp: 7,
    });
    expect(changes).toEqual([
      {
        rule: "late-results",
        action: "changed",
        index: 4,
        reason: "a tool result that came after the model had been told of none",
      },
    ]);
  });

  it("is news beside the made-up one that stands in its place, and only once", () => {
    const told = [asking([call("a")]), madeUp, assistant([text("no")])];
    expect(kindsAfter(...told, result("a"), result("a"))).toEqual([
      ...["assistant", "toolResult", "assistant", "custom", "toolResult"],
    ]);
  });

  it("is none where it was made up: nothing came", () => {
    const told = [asking([call("a")]), user("and?"), assistant([text("no")])];
    expect(kindsAfter(...told, madeUp)).not.toContain("custom");
    expect(kindsAfter(...told, madeUp, result("a")).at(-1)).toBe("custom");
  });

  it("is one after another reply of the model, though nothing stands between them", () => {
    const first = asking([call("a")], { responseId: "r1" });
    const second = assistant([text("no")], { responseId: "r2" });
    expect(kindsAfter(first, second, result("a"))).toEqual(["assistant", "assistant", "custom"]);
    const part = assistant([text("more")], { responseId: "r1" });
    expect(kindsAfter(first, part, result("a"))).not.toContain("custom");
  });

  it("is none where the model has not spoken since, where replies may be one, or where a real one came in time", () => {
    const asked = asking([call("a")]);
    expect(kindsAfter(asked, user("and?"), result("a"))).toEqual([
      "assistant",
      "user",
      "toolResult",
    ]);
    expect(kindsAfter(asked, asking([call("b")]), result("a"), result("b"))).not.toContain(
      "custom",
    );
    expect(kindsAfter(asked, result("a"), assistant([text("x")]), result("a"))).not.toContain(
      "custom",
    );
    expect(
      kindsAfter(
        asking([call("a")], { stopReason: "aborted" }),
        user("n"),
        assistant([text("x")]),
        result("a"),
      ),
    ).not.toContain("custom");
  });

  it("is none after a copy of what was delivered: that is no reply of the model", () => {
    const mirror = assistant([text("x")], { provider: "openclaw", model: "delivery-mirror" });
    expect(kindsAfter(asking([call("a")]), user("and?"), mirror, result("a"))).not.toContain(
      "custom",
    );
  });

  it("without an id is left to its call while that waits, and to nobody's once it was told of", () => {
    const lost = result("", { toolCallId: "" });
    const other = result("", { toolCallId: "", toolName: "other" });
    expect(kindsAfter(asking([call("a")]), user("and?"), lost)).not.toContain("custom");
    const told = [asking([call("a")]), user("and?"), assistant([text("no")])];
    expect(kindsAfter(...told, lost).at(-1)).toBe("custom");
    expect(kindsAfter(...told, other).at(-1)).toBe("toolResult");
  });
});
