// Runs a talk at a terminal, from opening the session to leaving it.
import { EXIT } from "../../terminal/exit-codes.ts";
import type { Output } from "../../terminal/output.ts";
import { isWorking } from "./conversation.ts";
import { createDoing } from "./doing.ts";
import { historyOf } from "./history.ts";
import type { HistoryFile } from "./history-file.ts";
import type { LiveScreen } from "./live-screen.ts";
import type { OpenedPort } from "./port.ts";
import { createTalk, type Talk } from "./talk.ts";

export interface ChatRequest {
  screen: LiveScreen;
  /** As the person named it; undefined = the main one. */
  session: string | undefined;
  open(output: Output): Promise<OpenedPort>;
  history: HistoryFile;
  /** The person's editor, as a command line. */
  editor: string;
  output: Output;
  /** Told of signals that ask to cancel ("interrupt") or to end. */
  onSignals(listener: (signal: "interrupt" | "terminate") => void): () => void;
}

/** The exit code. Rejects with what keeps the session from being opened. */
export async function runChat(request: ChatRequest): Promise<number> {
  const { screen, history, output, editor } = request;
  const ended = Promise.withResolvers<number>();
  const leaving = new AbortController();
  const isBusy = () => isWorking(screen.state().conversation);
  let talk: Talk | undefined;
  const stopListening = request.onSignals((signal) => {
    if (signal === "interrupt" && isBusy()) return void talk?.cancel();
    leaving.abort();
    ended.resolve(EXIT.cancelled);
  });
  try {
    void recall(screen, history);
    const opened = await Promise.race([request.open(outputOn(screen)), ended.promise]);
    if (typeof opened === "number") return opened;
    talk = createTalk({ screen, opened });
    screen.perform(
      createDoing({ screen, opened, talk, history, editor, quit: () => ended.resolve(EXIT.done) }),
    );
    await talk.enter(request.session ?? opened.mainSession);
    return await ended.promise;
  } finally {
    stopListening();
    await leave({ screen, talk, output, leaving: leaving.signal });
  }
}

async function leave({
  screen,
  talk,
  output,
  leaving,
}: {
  screen: LiveScreen;
  talk: Talk | undefined;
  output: Output;
  leaving: AbortSignal;
}): Promise<void> {
  const isBusy = isWorking(screen.state().conversation);
  screen.close();
  await talk?.leave({ output, leaving, isBusy });
}

async function recall(screen: LiveScreen, file: HistoryFile): Promise<void> {
  const entries = await file.read();
  const { history } = screen.state();
  // What was written meanwhile is newer.
  const { search } = history;
  screen.set({ history: { ...historyOf([...entries, ...history.entries]), search } });
}

/** Words of the gateway that is opened stand among those of the conversation. */
function outputOn(screen: LiveScreen): Output {
  const note = (text: string) => screen.print({ kind: "note", text });
  return {
    note,
    line: (text = "") => note(text),
    write: note,
    json: (value) => note(JSON.stringify(value)),
  };
}
