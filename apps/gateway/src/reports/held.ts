// What is said of a message that the thread of a program held already.
export const HELD = ", held by the program's thread";
