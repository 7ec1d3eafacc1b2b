// Carries messages between an editor and what answers it, within one process.
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";

export interface Pipe {
  /** For the one that answers. */
  stream: Stream;
  /** From the editor; nothing happens once it is closed. */
  push(message: AnyMessage): void;
  /** The editor is gone. */
  end(): void;
}

/** `deliver` is given what is for the editor, in order. */
export function createPipe(deliver: (message: AnyMessage) => void): Pipe {
  let input: ReadableStreamDefaultController<AnyMessage> | undefined;
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      input = controller;
    },
    cancel() {
      input = undefined;
    },
  });
  const writable = new WritableStream<AnyMessage>({ write: deliver });
  return {
    stream: { readable, writable },
    push: (message) => input?.enqueue(message),
    end() {
      input?.close();
      input = undefined;
    },
  };
}
