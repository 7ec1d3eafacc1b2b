import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { conversation } from "@clew/plugin-sdk/testing";
import { expect, it } from "vitest";
import { importFile } from "../ingest/import-file.ts";
import { ownerOf } from "../sessions/owner.ts";
import { storeMessages } from "../store/messages.ts";
import type { Store } from "../store/store.ts";
import { sessionFile } from "../testing/session-file.ts";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { transcriptFaults } from "./transcript.ts";
import { verifyStore } from "./verify.ts";

it("a transcript that is read into the store while it is held against it misses nothing there", async () => {
  const [store, agentDir] = [temporaryStore(), temporaryFolder()];
  const file = sessionFile("s1");
  const told = conversation({ turns: 200 });
  file.say(...told);
  const session = { sessionId: "s1", owner: ownerOf(agentDir, store.path) };
  /** Somebody stores all of it behind the first question. */
  const thenStored = <Moment extends Pick<Store, "read">>(moment: Moment): Moment => ({
    ...moment,
    read(ask) {
      const answer = moment.read(ask);
      storeMessages(store, { session, messages: namedWithIds(told), from: "told" });
      return answer;
    },
  });
  const disturbed = { ...thenStored(store), snapshot: () => thenStored(store.snapshot()) };
  const transcript = { sessionId: "s1", agentDir, file: file.path };
  expect(await transcriptFaults(disturbed, transcript)).toEqual([]);
  expect(await transcriptFaults(store, transcript)).toEqual([]);
});

it("a message that a transcript tells and the store lost is named, with its hash gone too", async () => {
  const [store, agentDir] = [temporaryStore(), temporaryFolder()];
  const file = sessionFile("s1");
  file.say(...conversation({ turns: 5 }));
  const session = { sessionId: "s1", sessionKey: "k", owner: ownerOf(agentDir, store.path) };
  const transcripts = [{ sessionId: "s1", sessionKey: "k", agentDir, file: file.path }];
  const untold = async () => {
    const { faults } = await verifyStore(store, { transcripts });
    return faults.flatMap(({ text }) => (text.includes("transcript") ? [text] : []));
  };
  // Nothing of it was stored: it is read when the session goes on.
  expect(await untold()).toEqual([]);
  await importFile(store, { session, path: file.path });
  file.say(...conversation({ turns: 1 }));
  expect((await verifyStore(store, { transcripts })).faults).toEqual([]);

  const db = new DatabaseSync(store.path);
  db.exec("DELETE FROM message WHERE seq = 4; DELETE FROM link WHERE message = 4");
  db.close();
  expect(await untold()).toEqual([
    "message e3 of session k stands in its transcript and is not stored",
  ]);

  rmSync(file.path);
  expect(await untold()).toEqual([]);
});
