/// Whether changes that concern no other record are decided without the rules, and written without a look at each field by its
/// name. Only the tests that hold both ways against each other switch this off.
enum ShortWays {
    @TaskLocal static var areTaken = true
}
