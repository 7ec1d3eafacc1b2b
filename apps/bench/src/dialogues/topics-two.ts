// Topics on which nothing was tuned but which first words of sentences are names.
import type { TopicSet } from "./topics.ts";

export const TOPICS_TWO: TopicSet = {
  speakers: ["Agnes", "Emeka", "Solveig", "Hugo", "Farah", "Dmitri", "Beatriz", "Nils"],
  relatives: [
    { rel: "brother", names: ["Anton", "Milo", "Kwame"] },
    { rel: "aunt", names: ["Rosalind", "Ulla", "Carmen"] },
    { rel: "best friend", names: ["Sanne", "Idris", "Moira"] },
    { rel: "colleague", names: ["Viktor", "Halima", "Joost"] },
  ],
  introduce: [
    ["!S: {N} dropped by on Sunday. That is my {rel}, the one with the loud laugh."],
    ["O: You look tired.", "!S: Blame my {rel}. {N} kept me talking until two in the morning."],
    ["O: Who is the tall one in the picture?", "!S: Oh, {N}! My {rel}. We look alike, people say."],
  ],
  topics: [
    {
      tell: [
        [
          "!S: My knitting group is making {x} for the winter fair, I volunteered before I thought.",
        ],
        ["O: What is all this on the table?", "!S: {x}. For the fair. Do not touch the glue."],
        ["!S: I sat up half the night over those {x}, and two more fell apart."],
      ],
      ask: ["What did {S} craft for the fair?", "What was {S} making by hand?"],
      all: ["Which crafts has {S} worked on?", "What things has {S} made by hand?"],
      inMonth: ["What was {S} crafting in {month}?"],
      values: [
        "felt slippers",
        "paper lanterns",
        "wooden owls",
        "beeswax candles",
        "patchwork bags",
        "clay whistles",
      ],
      chaff: [
        "The fair is months away.",
        "I have two left hands, ask anybody.",
        "The table is still sticky.",
      ],
    },
    {
      tell: [
        ["!S: I came {x} in the race on Saturday, and I could barely stand afterwards."],
        [
          "O: And, how did it go on Saturday?",
          "!S: {x}! Out of sixty. I did not expect that at all.",
        ],
      ],
      ask: ["How did {S} place in the race?", "What was {S}'s result in the competition?"],
      when: ["When did {S} compete and finish {x}?"],
      values: ["fourth", "eleventh", "second to last", "seventh", "thirty-first"],
      chaff: [
        "I should train more.",
        "Saturday was lovely, was it not?",
        "Races are not for me, I thought.",
      ],
    },
    {
      tell: [
        ["!S: The council said yes: the {x} in our street gets saved after all."],
        [
          "O: Why are you grinning like that?",
          "!S: They will keep the {x}. All those signatures were good for something.",
        ],
      ],
      ask: ["What did {S} campaign to save?", "What will the council keep in {S}'s street?"],
      when: ["When did {S} hear that the {x} stays?"],
      values: ["old cinema", "plane trees", "public bath", "tram stop", "library branch"],
      chaff: [
        "The council meets on Mondays.",
        "Our street is a building site.",
        "Signatures never help, they say.",
      ],
    },
    {
      tell: [
        ["!S: We went to see {x} last night, third row, I could see the sweat on their foreheads."],
        [
          "O: Was the concert any good?",
          "!S: {x} played for three hours. My ears are still ringing.",
        ],
        ["!S: I got hold of two tickets for {x}! Sold out in minutes, and I got two."],
      ],
      ask: ["Which band did {S} see live?", "Whose concert did {S} attend?"],
      all: ["Which bands has {S} seen live?", "What concerts has {S} been to?"],
      inMonth: ["Which concert did {S} go to in {month}?"],
      values: [
        "the Velvet Herons",
        "Quiet Machinery",
        "Ana Sorel",
        "the Tin Prophets",
        "Northlight",
        "Kassava",
      ],
      chaff: [
        "I hate queueing for tickets.",
        "Music was so much better then.",
        "My ears are not what they were.",
      ],
    },
    {
      tell: [
        ["!S: The garden is coming along. I planted {x} along the fence this morning."],
        [
          "O: Mud on your shoes again?",
          "!S: From the garden. {x}, a whole row, if the snails allow it.",
        ],
      ],
      ask: ["What did {S} plant?", "What is growing along {S}'s fence?"],
      all: ["Which plants has {S} put in the garden?"],
      inMonth: ["What did {S} plant in {month}?"],
      values: ["sweet peas", "chard", "dahlias", "gooseberries", "artichokes", "hollyhocks"],
      chaff: [
        "Snails ate everything again.",
        "The fence needs paint.",
        "Gardens are for patient people.",
      ],
    },
    {
      tell: [
        ["!S: The mechanic called, it is the {x}. That will cost me a month's rent."],
        ["O: What is wrong with the car?", "!S: The {x}, they say. I nodded as if I understood."],
      ],
      ask: ["What part of {S}'s car broke?", "Why was {S}'s car at the garage?"],
      when: ["When did {S} learn that the {x} had failed?"],
      values: ["gearbox", "alternator", "head gasket", "fuel pump"],
      chaff: ["Cars are nothing but trouble.", "I walked, it was quicker.", "Rent went up again."],
    },
    {
      tell: [
        ["!S: I applied for the course in {x}, and they took me!"],
        [
          "O: You have been so secretive lately.",
          "!S: All right: I am going back to school. {x}, from autumn on.",
        ],
      ],
      ask: ["What is {S} going to study?", "Which course did {S} get into?"],
      when: ["When did {S} get accepted for {x}?"],
      values: ["marine biology", "bookbinding", "sign language", "wine making", "astronomy"],
      chaff: [
        "School was never my thing.",
        "Autumn will be busy.",
        "I am not secretive, I am tired.",
      ],
    },
    {
      tell: [
        ["!S: I lost my {x} somewhere between the station and home, I could scream."],
        ["O: You look upset.", "!S: My {x} is gone. I searched the whole tram."],
      ],
      ask: ["What did {S} lose?", "What went missing from {S}'s things?"],
      all: ["Which things has {S} lost?"],
      values: ["wedding ring", "house keys", "sketchbook", "left glove", "library card"],
      chaff: [
        "The tram smelled of oranges.",
        "I could scream, honestly.",
        "Everything turns up in the end.",
      ],
    },
  ],
  bridges: [
    {
      tell: [
        ["!S: {N} passed the exam to become a {x}. We opened the good bottle."],
        ["O: What is {N} doing now?", "!S: Training as a {x}, would you believe it?"],
      ],
      ask: ["What is {S}'s {rel} training to be?", "Which profession did {S}'s {rel} choose?"],
      values: ["paramedic", "train driver", "stonemason", "interpreter", "midwife"],
    },
    {
      tell: [
        ["!S: {N} will not touch {x}, so I had to change the whole menu."],
        [
          "O: What can I cook when {N} comes along?",
          "!S: Anything without {x}. Hospital, last time.",
        ],
      ],
      ask: ["What is {S}'s {rel} allergic to?", "Which food must {S}'s {rel} avoid?"],
      values: ["celery", "shellfish", "walnuts", "sesame", "strawberries"],
    },
    {
      tell: [
        ["!S: {N} drives a {x} now, the whole street came to look."],
        ["O: Was that {N} outside?", "!S: Yes, in the {x}. You could hear it from the harbour."],
      ],
      ask: ["What vehicle does {S}'s {rel} have?", "What does {S}'s {rel} drive?"],
      values: ["fire engine", "milk float", "sidecar", "camper van", "hearse"],
    },
  ],
  open: [
    {
      tell: [["!S: I sneeze as soon as a cat enters the room."]],
      ask: ["Could {S} look after a kitten for a week?"],
    },
    {
      tell: [
        [
          "O: Are you coming into the water?",
          "!S: I never learned to swim, I will watch the towels.",
        ],
      ],
      ask: ["Would {S} like to go snorkelling?"],
    },
    {
      tell: [["!S: I gave away my television years ago and never missed it."]],
      ask: ["Does {S} follow any series?"],
    },
    {
      tell: [["!S: I cannot stand surprises, not even nice ones."]],
      ask: ["Should one throw {S} a party without telling?"],
    },
    {
      tell: [["!S: I count every coin until the loan is paid off."]],
      ask: ["Can {S} afford an expensive holiday?"],
    },
  ],
  smallTalk: [
    "What a week.",
    "You are up early!",
    "The lift is out of order again.",
    "I had a feeling you would say that.",
    "Hold on, somebody is at the door.",
    "It is far too warm for this time of the year.",
    "I fell asleep on the sofa.",
    "Where were we?",
    "Fine by me.",
    "That is what I told them, too.",
    "I forgot my umbrella, of course.",
    "Do you have a minute?",
    "Long story.",
    "I will call you back in ten minutes.",
    "You know how they are.",
    "There is a strange smell in the hallway.",
    "I am on my second coffee.",
    "Maybe on Friday, if nothing comes up.",
    "Say hello from me.",
    "Not today.",
    "I laughed so hard.",
    "The neighbours are drilling again.",
    "Remind me to send you the picture.",
    "I am late, sorry, sorry.",
  ],
};
