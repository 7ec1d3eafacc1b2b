// Answers a request in a session whose history is Clew's own.
import { answerWith, type DoorCall, type DoorOutlet } from "../call/door-call.ts";

export async function answerInSession({ wire }: DoorCall, outlet: DoorOutlet): Promise<void> {
  const sentence = "Requests that name a session of Clew's are not answered yet; send the history.";
  answerWith(outlet, wire.error(400, sentence));
}
