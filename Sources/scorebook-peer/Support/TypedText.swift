import ArgumentParser

// The following take the place of the parser's own initializers for texts: the compiler prefers them. So every command gets each
// text as somebody typed it, without the mask of ``NegativeNumber``.

extension Argument where Value == String {
    init(help: ArgumentHelp? = nil, completion: CompletionKind? = nil) {
        self.init(help: help, completion: completion, transform: NegativeNumber.unmasked)
    }
}

extension Argument where Value == String? {
    init(help: ArgumentHelp? = nil, completion: CompletionKind? = nil) {
        self.init(help: help, completion: completion, transform: NegativeNumber.unmasked)
    }
}

extension Argument where Value == [String] {
    init(
        parsing: ArgumentArrayParsingStrategy = .remaining, help: ArgumentHelp? = nil,
        completion: CompletionKind? = nil
    ) {
        self.init(parsing: parsing, help: help, completion: completion, transform: NegativeNumber.unmasked)
    }

    init(
        wrappedValue: [String], parsing: ArgumentArrayParsingStrategy = .remaining, help: ArgumentHelp? = nil,
        completion: CompletionKind? = nil
    ) {
        self.init(
            wrappedValue: wrappedValue, parsing: parsing, help: help, completion: completion,
            transform: NegativeNumber.unmasked)
    }
}

extension Option where Value == String {
    init(
        name: NameSpecification = .long, parsing: SingleValueParsingStrategy = .next,
        help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) {
        self.init(
            name: name, parsing: parsing, help: help, completion: completion,
            transform: NegativeNumber.unmasked)
    }
}

extension Option where Value == String? {
    init(
        name: NameSpecification = .long, parsing: SingleValueParsingStrategy = .next,
        help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) {
        self.init(
            name: name, parsing: parsing, help: help, completion: completion,
            transform: NegativeNumber.unmasked)
    }
}

extension Option where Value == [String] {
    init(
        name: NameSpecification = .long, parsing: ArrayParsingStrategy = .singleValue,
        help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) {
        self.init(
            name: name, parsing: parsing, help: help, completion: completion,
            transform: NegativeNumber.unmasked)
    }

    init(
        wrappedValue: [String], name: NameSpecification = .long, parsing: ArrayParsingStrategy = .singleValue,
        help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) {
        self.init(
            wrappedValue: wrappedValue, name: name, parsing: parsing, help: help, completion: completion,
            transform: NegativeNumber.unmasked)
    }
}
