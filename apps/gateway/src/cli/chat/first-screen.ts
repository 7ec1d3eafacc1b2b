// Shows the prompt of a chat before anything large is loaded.
import type { ReadStream, WriteStream } from "node:tty";
import { terminalVariables } from "../../config/terminal-variables.ts";
import { type LiveScreen, showScreen } from "./live-screen.ts";
import { openTerminal } from "./terminal.ts";

let shown: LiveScreen | undefined;

/** The same screen each time: there is one terminal. */
export function chatScreen(): LiveScreen {
  shown ??= showScreen((given) =>
    openTerminal({
      ...{ input: process.stdin as ReadStream, output: process.stdout as WriteStream },
      ...{ variables: terminalVariables(), ...given },
    }),
  );
  return shown;
}

/** Gives the terminal back, if it was taken. */
export function closeChatScreen(): void {
  shown?.close();
}
