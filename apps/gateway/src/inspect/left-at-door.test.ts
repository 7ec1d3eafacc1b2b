// What the inspector tells of a reply at the door that its client did not go on with.
import { expect, it, onTestFinished } from "vitest";
import type { Said } from "../door/testing/conversation.ts";
import { startReplies } from "../door/testing/http-world.ts";
import { clew } from "../testing/command.ts";
import { ask, person } from "../testing/door-client.ts";
import { startTestDoor } from "../testing/test-door.ts";

const API = "openai-completions";

it("a reply that its client asked for again is found, and nobody is said to have used /undo", async () => {
  const upstream = await startReplies();
  onTestFinished(upstream.close);
  const door = await startTestDoor(upstream);
  const says = async (said: readonly Said[], text: string) => {
    upstream.await(text, { reply: { text, thinking: "", calls: [] }, fault: undefined });
    const sent = { model: "model", headers: { "x-ask": text } };
    const { answer } = await ask(door, API, said, sent);
    await door.gateway.door.settled();
    return answer.headers.get("x-clew-session")!;
  };
  const model = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });
  const asked = [person("Why?"), model("Because."), person("And the lighthouse?")];
  await says(asked.slice(0, 1), "Because.");
  const session = await says(asked, "The ZEBRA-88 is green.");
  expect(await says(asked, "It is white.")).toBe(session);
  await says([...asked, model("It is white."), person("Thank you.")], "Gladly.");

  const { code, output } = await clew(door.home, ["inspect", session, "--find", "ZEBRA-88"]);
  expect([code, output]).toEqual([
    0,
    expect.stringMatching(
      /^Entry \w+, assistant, says it and is not on the branch any more: its client went on without it at 20/m,
    ),
  ]);
  const { output: rows } = await clew(door.home, ["inspect", session]);
  expect(rows).toContain("its client went on without what was said last");
  expect(rows).not.toContain("/undo");
});
