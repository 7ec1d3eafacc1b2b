// What whoever waits for a message's turn is told when the message was taken back.

/** An abort, so that no engine or model is thought to have failed. */
export class MessageTakenBack extends DOMException {
  constructor() {
    super("The message was taken back before it had its turn.", "AbortError");
  }
}
