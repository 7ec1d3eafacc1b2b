// Does what keys of a chat ask for.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { foldChat } from "../../conversation/chat-view.ts";
import { shortName } from "../../sessions/keys.ts";
import { complete, planWanted } from "./complete.ts";
import type { HistoryFile } from "./history-file.ts";
import type { LiveScreen } from "./live-screen.ts";
import { planCompletion } from "./menu.ts";
import type { OpenedPort } from "./port.ts";
import type { Effect } from "./state.ts";
import { messageOf, type Talk } from "./talk.ts";
import { createView } from "./view.ts";

export interface DoingOptions {
  screen: LiveScreen;
  opened: OpenedPort;
  talk: Talk;
  history: HistoryFile;
  /** The person's editor, as a command line. */
  editor: string;
  quit(): void;
}

/** How many entries of a session are looked at in full. */
const LOOKED_AT_ENTRIES = 1000;

export function createDoing(options: DoingOptions): (effect: Effect) => void {
  const { screen, talk, history, quit } = options;
  const tell = (error: unknown) => screen.print({ kind: "problem", text: messageOf(error) });
  return (effect) => {
    switch (effect.kind) {
      case "send":
        return void talk.send(effect.sent);
      case "cancel":
        return void talk.cancel();
      case "answer":
        return void talk.answer(effect.approval, effect.answer);
      case "quit":
        return quit();
      case "complete":
        return void completeDraft(options, effect);
      case "edit":
        return void editDraft(options, effect.text).catch(tell);
      case "remember":
        return void history.add(effect.text);
      case "move":
        return void talk.enter(effect.session).catch(tell);
      case "look":
        return void look(options).catch(tell);
      case "suspend":
        return void screen.terminal.suspend().then(() => screen.set({}));
      case "redraw":
        return screen.terminal.forget();
    }
  };
}

async function completeDraft(
  { screen, opened, talk }: DoingOptions,
  { draft }: Extract<Effect, { kind: "complete" }>,
): Promise<void> {
  const found = await complete(planWanted(draft), {
    folder: opened.port.folder,
    commands: opened.commands,
    sessions: async () =>
      (await talk.api.sessions()).map(({ key, label }) => ({ text: shortName(key), about: label })),
    models: async () => (await opened.models()).map((text) => ({ text })),
  }).catch(() => ({ from: 0, options: [] }));
  // It is for what was written then.
  if (screen.state().draft !== draft) return;
  if (found.options.length === 0) screen.set({ hint: "Nothing known goes on like this." });
  else screen.set(planCompletion(draft, found));
}

async function editDraft({ screen, editor }: DoingOptions, text: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "clew-edit-"));
  const file = join(folder, "message.md");
  try {
    await writeFile(file, text, { mode: 0o600 });
    const [command = "vi", ...args] = editor.split(/\s+/);
    const code = await screen.terminal.lend(command, [...args, file]);
    if (code === null)
      throw new Error(`The editor "${command}" cannot be run; set EDITOR to one that can.`);
    if (code !== 0)
      throw new Error(`The editor "${command}" ended with ${code}; the message is as it was.`);
    const written = (await readFile(file, "utf8")).replace(/\n$/, "");
    screen.set({ draft: { text: written, cursor: written.length } });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function look({ screen, talk }: DoingOptions): Promise<void> {
  const { key } = screen.state().conversation;
  const found = await talk.api.entries(key, LOOKED_AT_ENTRIES);
  screen.set({ view: createView(foldChat(found?.entries ?? [])) });
}
