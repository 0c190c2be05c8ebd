import Scorebook

extension WritingMachine {
    /// The machine, for people.
    var words: String {
        switch self {
        case .here: "this machine"
        case .named(let name): name
        case .unknown: "another machine"
        }
    }
}
