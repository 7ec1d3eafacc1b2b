// Opens a chat at a terminal, through the gateway of its home or alone.

import type { WhenBusy } from "../config/when-busy.ts";
import { outliveReaders } from "../terminal/lost-reader.ts";
import type { Shell } from "../terminal/shell.ts";
import { chatScreen } from "./chat/first-screen.ts";
import { historyFile } from "./chat/history-file.ts";
import { runChat } from "./chat/run-chat.ts";
import { outputAsCalled, ownCommand } from "./own-command.ts";
import type { Overrides } from "./setup.ts";

export interface TerminalChatOptions extends Overrides {
  /** Absent: the main one. */
  session?: string;
  /** Absent: as the settings say. */
  whenBusy?: WhenBusy;
}

export function chatAtTerminal(options: TerminalChatOptions, shell: Shell): Promise<number> {
  const { environment, output } = shell;
  return runChat({
    ...{ screen: chatScreen(), session: options.session, output },
    history: historyFile(environment.home),
    editor: environment.variable("VISUAL") ?? environment.variable("EDITOR") ?? "vi",
    async open(notes) {
      const { openPort } = await import("./chat/open-port.ts");
      const told = outputAsCalled(notes, ownCommand(import.meta.dirname, environment));
      return { ...(await openPort(options, shell, told)), whenBusy: options.whenBusy };
    },
    onSignals(listener) {
      const interrupt = () => listener("interrupt");
      const terminate = () => listener("terminate");
      process.on("SIGINT", interrupt);
      for (const signal of ENDING) process.on(signal, terminate);
      // A terminal that was closed says nothing and cannot be painted on; not all send a signal.
      process.stdin.on("end", terminate).on("error", terminate);
      outliveReaders(terminate);
      return () => {
        process.off("SIGINT", interrupt);
        process.stdin.off("end", terminate);
        for (const signal of ENDING) process.off(signal, terminate);
      };
    },
  });
}

const ENDING = ["SIGTERM", "SIGHUP"] as const;
