/// A binary heap that returns the element with the greatest key first; among equal keys, any element.
package struct MaxHeap<Element, Key: Comparable> {
    private var nodes: [(element: Element, key: Key)] = []

    package init() {}

    package mutating func insert(_ element: Element, _ key: Key) {
        nodes.append((element, key))
        var index = nodes.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard nodes[parent].key < nodes[index].key else { return }
            nodes.swapAt(parent, index)
            index = parent
        }
    }

    package mutating func popMax() -> (element: Element, key: Key)? {
        guard let last = nodes.popLast() else { return nil }
        guard let top = nodes.first else { return last }
        nodes[0] = last
        var index = 0
        while true {
            let children = (2 * index + 1)..<min(2 * index + 3, max(nodes.count, 2 * index + 1))
            guard let greater = children.max(by: { nodes[$0].key < nodes[$1].key }),
                nodes[index].key < nodes[greater].key
            else { return top }
            nodes.swapAt(index, greater)
            index = greater
        }
    }
}
