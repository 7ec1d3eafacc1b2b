// Takes the newest lines out of a session's journal, as a kill between two writes does.
import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { transcriptFile } from "../../sessions/paths.ts";
import { ask, person } from "../../testing/door-client.ts";
import { saidIn } from "../../testing/said-in.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import { journalFile } from "../memory/journal-files.ts";
import type { Said } from "../testing/conversation.ts";
import { startReplies } from "../testing/http-world.ts";
import type { DoorApi } from "../wires/door-wire.ts";

const model = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });

const BEGUN = [person("Why?"), model("Because of the parser, which drops the last line.")];
const FIRST = [...BEGUN, person("And now?")];

async function start(api: DoorApi, named: Record<string, string> = {}) {
  const upstream = await startReplies();
  onTestFinished(upstream.close);
  let door = await startTestDoor(upstream);
  const says = async (said: readonly Said[], text: string) => {
    upstream.await(text, { reply: { text, thinking: "", calls: [] }, fault: undefined });
    const { answer } = await ask(door, api, said, {
      model: "model",
      headers: { ...named, "x-ask": text },
    });
    await door.gateway.door.settled();
    return answer.headers.get("x-clew-session")!;
  };
  const session = await says(
    BEGUN.slice(0, 1),
    "Because of the parser, which drops the last line.",
  );
  return {
    says: async (said: readonly Said[], text: string) =>
      expect(await says(said, text)).toBe(session),
    stored: () => saidIn(door, session),
    async killed({ lines }: { lines: number }) {
      const { sessionId } = (await door.gateway.store.read(session))!;
      await door.stop();
      const journal = journalFile(transcriptFile(door.home, "main", sessionId));
      const written = (await readFile(journal, "utf8")).trimEnd().split("\n");
      await writeFile(journal, `${written.slice(0, -lines).join("\n")}\n`);
      door = await startTestDoor(upstream, { home: door.home });
    },
  };
}

const STORED = ["user: Why?", "assistant: Because of the parser, which drops the last line."];
const STORED_FIRST = [...STORED, "user: And now?", "assistant: It keeps it."];

describe.each(DOOR_APIS)("by %s, what was stored and not yet written down", (api) => {
  it.each([1, 2])("is stored once where its client goes on, %i lines back", async (lines) => {
    const { says, stored, killed } = await start(api);
    await says(FIRST, "It keeps it.");
    await killed({ lines });
    await says([...FIRST, model("It keeps it."), person("Good.")], "Yes.");
    expect(await stored()).toEqual([...STORED_FIRST, "user: Good.", "assistant: Yes."]);
  });

  it("is once on the branch where another window of its client goes on first", async () => {
    const { says, stored, killed } = await start(api);
    await says(FIRST, "It keeps it.");
    await killed({ lines: 2 });
    await says([...BEGUN, person("What else?")], "Nothing else.");
    await says([...FIRST, model("It keeps it."), person("Good.")], "Yes.");
    expect(await stored()).toEqual([
      ...[...STORED, "user: What else?", "assistant: Nothing else."],
      ...["user: And now?", "assistant: It keeps it.", "user: Good.", "assistant: Yes."],
    ]);
  });

  it("gives way to the new reply where its client asks once more", async () => {
    const { says, stored, killed } = await start(api);
    await says(FIRST, "It keeps it.");
    await killed({ lines: 1 });
    await says(FIRST, "It does.");
    await says([...FIRST, model("It does."), person("Good.")], "Yes.");
    expect(await stored()).toEqual([
      ...[...STORED, "user: And now?", "assistant: It does."],
      ...["user: Good.", "assistant: Yes."],
    ]);
  });

  it.each([{}, { "x-session-id": "ses_1", "x-session-affinity": "ses_1" }])(
    "of a first turn is found again where it is asked once more, named by %o",
    async (named) => {
      const { says, stored, killed } = await start(api, named);
      await killed({ lines: 2 });
      await says(BEGUN.slice(0, 1), "Because of its input.");
      await says([BEGUN[0]!, model("Because of its input."), person("Good.")], "Yes.");
      expect(await stored()).toEqual([
        ...["user: Why?", "assistant: Because of its input.", "user: Good.", "assistant: Yes."],
      ]);
    },
  );
});
